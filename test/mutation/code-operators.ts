/** Changes of one node of the code. The list follows Stryker's mutators, with calls, guards and properties beside them. */
import type * as t from '@babel/types'
import type { Edit, Operator } from './mutant.ts'

export interface CodeEdit extends Edit {
  readonly operator: Operator
  /** What is switched when it is more than the node itself. */
  readonly on?: t.Node
}

/** A node, its parents from the nearest on, and the text of the file. */
export interface Place {
  readonly node: t.Node
  readonly parents: readonly t.Node[]
  readonly source: string
}

type Found = readonly CodeEdit[]

const replace = (operator: Operator, node: t.Node, text: string): CodeEdit => ({
  operator,
  at: node.start!,
  until: node.end!,
  text,
})

/** The sign between two operands, without the brackets and comments around it. */
function between(source: string, left: t.Node, right: t.Node, sign: string, to: string, operator: Operator): CodeEdit {
  const at = source.indexOf(sign, left.end!)
  if (at === -1 || at > right.start!) throw new Error(`There is no ${sign} after ${left.end}`)
  return { operator, at, until: at + sign.length, text: to }
}

const boundaries: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const opposites: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}
const reckoning: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*' }
const assigning: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '*=': '/=', '??=': '=', '||=': '=' }

const isText = (node: t.Node): boolean =>
  node.type === 'StringLiteral' ||
  node.type === 'TemplateLiteral' ||
  (node.type === 'BinaryExpression' && node.operator === '+' && (isText(node.left) || isText(node.right)))

function ofBinary({ node, source }: Place): Found {
  const { operator: sign, left, right } = node as t.BinaryExpression
  const swap = (operator: Operator, to: string | undefined) =>
    to === undefined ? [] : [between(source, left, right, sign, to, operator)]
  const sum = isText(node) ? [] : swap('arithmetic', reckoning[sign])
  return [...swap('boundary', boundaries[sign]), ...swap('negation', opposites[sign]), ...sum]
}

function ofLogical({ node, source }: Place): Found {
  const { operator: sign, left, right } = node as t.LogicalExpression
  if (sign === '??')
    return [{ operator: 'logical', at: left.end!, until: node.end!, text: closing(source, node, left) }]
  return [between(source, left, right, sign, sign === '&&' ? '||' : '&&', 'logical')]
}

/** Brackets around what is left that are cut off with the rest. */
function closing(source: string, node: t.Node, left: t.Node): string {
  const before = source.slice(node.start!, left.start!)
  return ')'.repeat(before.split('(').length - before.split(')').length)
}

/** `if` with a way out is a guard: false removes it. A loop that never ends says nothing more than one that never runs. */
function ofCondition({ node }: Place): Found {
  const { test } = node as t.IfStatement
  if (!test || test.type === 'BooleanLiteral') return []
  const isLoop = node.type !== 'IfStatement' && node.type !== 'ConditionalExpression'
  const never = replace('condition', test, 'false')
  return isLoop ? [never] : [never, replace('condition', test, 'true')]
}

function ofUnary({ node }: Place): Found {
  const { operator } = node as t.UnaryExpression
  if (operator !== '!' && operator !== '-') return []
  return [{ operator: 'unary', at: node.start!, until: node.start! + 1, text: '' }]
}

function ofAssignment({ node, source }: Place): Found {
  const { operator, left, right } = node as t.AssignmentExpression
  const to = assigning[operator]
  return to === undefined ? [] : [between(source, left, right, operator, to, 'assignment')]
}

function ofUpdate({ node, source }: Place): Found {
  const { operator, argument, prefix } = node as t.UpdateExpression
  const at = prefix ? node.start! : source.indexOf(operator, argument.end!)
  return [{ operator: 'assignment', at, until: at + 2, text: operator === '++' ? '--' : '++' }]
}

function ofStatement({ node }: Place): Found {
  const { expression } = node as t.ExpressionStatement
  const inner = expression.type === 'AwaitExpression' ? expression.argument : expression
  const acts = [
    'CallExpression',
    'OptionalCallExpression',
    'AssignmentExpression',
    'UpdateExpression',
    'UnaryExpression',
  ]
  const isParent = inner.type === 'CallExpression' && inner.callee.type === 'Super'
  return acts.includes(inner.type) && !isParent ? [replace('call', node, '')] : []
}

const isNothing = (node: t.Node | null | undefined) =>
  !node ||
  (node.type === 'Identifier' && node.name === 'undefined') ||
  /^(?:Boolean|Numeric|Null)Literal$/.test(node.type)

const ofReturn = ({ node }: Place): Found => {
  const { argument } = node as t.ReturnStatement
  return isNothing(argument) ? [] : [replace('return', argument!, 'undefined')]
}

function ofArrow({ node }: Place): Found {
  const { body } = node as t.ArrowFunctionExpression
  return body.type === 'BlockStatement' || isNothing(body) ? [] : [replace('return', body, 'undefined')]
}

const ofBoolean = ({ node }: Place): Found => [replace('boolean', node, String(!(node as t.BooleanLiteral).value))]

function ofNumber({ node, source }: Place): Found {
  const { value } = node as t.NumericLiteral
  const text = source.slice(node.start!, node.end!)
  return [`(${text} + 1)`, ...(value === 0 ? [] : [`(${text} - 1)`])].map(to => replace('number', node, to))
}

function ofString({ node, parents }: Place): Found {
  const isEmpty = node.type === 'StringLiteral' && node.value === ''
  const isTagged = parents[0]?.type === 'TaggedTemplateExpression'
  return isEmpty || isTagged || isModule(parents) || isForPeople(parents) ? [] : [replace('string', node, "''")]
}

/** The name of a module that is imported late: without it nothing is built. */
const isModule = ([parent]: readonly t.Node[]) =>
  parent?.type === 'ImportExpression' || (parent?.type === 'CallExpression' && parent.callee.type === 'Import')

/** The words of an error or of a line of the log: no mutants, as no test should hold them to the letter. */
function isForPeople(parents: readonly t.Node[]): boolean {
  const call = parents.find(({ type }) => /^(?:New|Call|ArrowFunction)Expression$|Statement$/.test(type))
  if (call?.type === 'NewExpression') return call.callee.type === 'Identifier' && /Error$/.test(call.callee.name)
  if (call?.type !== 'CallExpression') return false
  const { callee } = call
  const name = callee.type === 'MemberExpression' ? callee.property : callee
  return name.type === 'Identifier' && /^(?:log|warn|onFatal)$/.test(name.name)
}

function ofRegex({ node }: Place): Found {
  const { pattern, flags } = node as t.RegExpLiteral
  const edits: CodeEdit[] = []
  const at = node.start! + 1
  if (pattern.startsWith('^'))
    edits.push({ operator: 'regex', at, until: at + 1, text: pattern.length > 1 ? '' : '(?:)' })
  const end = at + pattern.length
  if (/(?<!\\)\$$/.test(pattern)) edits.push({ operator: 'regex', at: end - 1, until: end, text: '' })
  if (flags.includes('i'))
    edits.push({ operator: 'regex', at: end + 1, until: node.end!, text: flags.replace('i', '') })
  return edits
}

/** Each property by itself: `{ a, b }` → `{ b }`. The rest of a spread stays. */
function ofObject({ node, source }: Place): Found {
  const { properties } = node as t.ObjectExpression
  return properties
    .filter(property => property.type !== 'SpreadElement' || properties.length === 1)
    .map(property => {
      const comma = /^\s*,/.exec(source.slice(property.end!))
      return {
        operator: 'property' as const,
        at: property.start!,
        until: property.end! + (comma?.[0].length ?? 0),
        text: '',
      }
    })
}

/** Not the values of a statement: it fails without them before it does anything. */
function ofArray({ node, parents }: Place): Found {
  const isOfStatement = parents[0]?.type === 'CallExpression' && parents[0].arguments.indexOf(node as t.Expression) > 0
  return isOfStatement || (node as t.ArrayExpression).elements.length === 0 ? [] : [replace('element', node, '[]')]
}

function ofOptional({ node, source }: Place): Found {
  const link = node as t.OptionalMemberExpression | t.OptionalCallExpression
  if (!link.optional) return []
  const before = link.type === 'OptionalCallExpression' ? link.callee : link.object
  const at = source.indexOf('?.', before.end!)
  const isDotted = link.type === 'OptionalMemberExpression' && !link.computed
  return [{ operator: 'optional', at, until: at + 2, text: isDotted ? '.' : '' }]
}

const otherMethod: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  ceil: 'floor',
  floor: 'ceil',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  push: 'unshift',
  unshift: 'push',
  shift: 'pop',
  pop: 'shift',
  find: 'findLast',
}
const leftOut =
  /^(?:filter|sort|toSorted|reverse|toReversed|slice|subarray|trim|toLowerCase|toUpperCase|normalize|flat|replace|replaceAll|padStart|catch|finally)$/

function ofCall({ node, source }: Place): Found {
  const { callee } = node as t.CallExpression
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return []
  const { property, object } = callee
  const other = Object.hasOwn(otherMethod, property.name) ? otherMethod[property.name] : undefined
  if (other !== undefined) return [replace('method', property, other)]
  if (!leftOut.test(property.name) || object.type === 'Super') return []
  return [{ operator: 'method', at: object.end!, until: node.end!, text: closing(source, node, object) }]
}

const found: Readonly<Partial<Record<t.Node['type'], (place: Place) => Found>>> = {
  BinaryExpression: ofBinary,
  LogicalExpression: ofLogical,
  IfStatement: ofCondition,
  ConditionalExpression: ofCondition,
  WhileStatement: ofCondition,
  ForStatement: ofCondition,
  UnaryExpression: ofUnary,
  AssignmentExpression: ofAssignment,
  UpdateExpression: ofUpdate,
  ExpressionStatement: ofStatement,
  ReturnStatement: ofReturn,
  ArrowFunctionExpression: ofArrow,
  BooleanLiteral: ofBoolean,
  NumericLiteral: ofNumber,
  StringLiteral: ofString,
  TemplateLiteral: ofString,
  RegExpLiteral: ofRegex,
  ObjectExpression: ofObject,
  ArrayExpression: ofArray,
  OptionalMemberExpression: ofOptional,
  OptionalCallExpression: ofOptional,
  CallExpression: ofCall,
}

/** Every change of this node that is no change of another node. Texts of SQL are not looked at here. */
export const codeEdits = (place: Place): Found => found[place.node.type]?.(place) ?? []

/** Finds every mutant of a file, and of whole rooms. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parse } from '@babel/parser'
import type * as t from '@babel/types'
import { type CodeEdit, codeEdits, type Place } from './code-operators.ts'
import { changeOf, type Mutant, type Span } from './mutant.ts'
import { isSql, sqlEdits } from './sql-operators.ts'

export interface Scene {
  readonly mutants: readonly Mutant[]
  /** The body of every function. */
  readonly bodies: readonly Body[]
  /** Where an expression begins that stands in a list of statements. */
  readonly openings: ReadonlySet<number>
  /** Names declared by the module itself, with the text that makes their values. */
  readonly declared: readonly Declared[]
}

interface Declared extends Span {
  readonly name: string
  /** Of each object of the class of this name: made with the object, not when the module is loaded. */
  readonly isField: boolean
}

/** An arrow may have an expression for a body. */
export interface Body extends Span {
  readonly isBlock: boolean
}

export interface Source {
  readonly file: string
  readonly text: string
  readonly scene: Scene
}

/** The folders of src. */
export const roomsOf = (root = 'src') =>
  readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort()

/** Of folders of src, by name. */
export const sourcesOf = (rooms: readonly string[], root = 'src'): Source[] =>
  rooms.flatMap(room =>
    readdirSync(posix.join(root, room), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .sort()
      .map(name => {
        const file = posix.join(root, room, name)
        const text = readFileSync(file, 'utf8')
        return { file, text, scene: sceneOf(file, text) }
      }),
  )

export const parsed = (source: string) => parse(source, { sourceType: 'module', plugins: ['typescript'] }).program

/** In the order of the text. */
export function sceneOf(file: string, source: string): Scene {
  const program = parsed(source)
  const mutants: Mutant[] = []
  const bodies: Body[] = []
  const openings = new Set<number>()
  walk(program, [], (node, parents) => {
    if (isFunction(node)) bodies.push({ ...spanOf(node.body), isBlock: node.body.type === 'BlockStatement' })
    if (node.type === 'ExpressionStatement' && isList(parents[0])) openings.add(node.start!)
    const place = { node, parents, source }
    for (const edit of editsAt(place)) {
      const mutant = mutantOf(file, place, edit)
      if (mutant) mutants.push(mutant)
    }
  })
  mutants.sort((a, b) => a.at - b.at || a.until - b.until || (a.text < b.text ? -1 : 1))
  return { mutants, bodies, openings, declared: declaredBy(program) }
}

const isList = (node: t.Node | undefined) =>
  /^(?:BlockStatement|Program|SwitchCase|StaticBlock)$/.test(node?.type ?? '')

const spanOf = ({ start, end }: t.Node): Span => ({ start: start!, end: end! })

type FunctionNode =
  | t.FunctionDeclaration
  | t.FunctionExpression
  | t.ArrowFunctionExpression
  | t.ClassMethod
  | t.ObjectMethod

const isFunction = (node: t.Node): node is FunctionNode =>
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassMethod|ClassPrivateMethod|ObjectMethod)$/.test(
    node.type,
  )

/** Types, and what names a module: nothing of it runs. */
const STILL = /^(?:TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import|ExportAll)/

function walk(node: t.Node, parents: readonly t.Node[], visit: (node: t.Node, parents: readonly t.Node[]) => void) {
  if (STILL.test(node.type)) return
  visit(node, parents)
  const inner = [node, ...parents]
  for (const [key, value] of Object.entries(node)) {
    if (isKey(node, key) || /Comments$|^typeAnnotation$|^returnType$|^typeParameters$/.test(key)) continue
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child === 'object' && 'type' in child && 'start' in child) walk(child, inner, visit)
    }
  }
}

/** Names are no values; the sources of exports are no texts. */
const isKey = (node: t.Node, key: string) =>
  (key === 'key' && 'computed' in node && !node.computed) ||
  (key === 'property' && 'computed' in node && !node.computed) ||
  (key === 'source' && /^Export/.test(node.type))

/** Of a text of SQL, its terms and clauses; of all else, the node itself. */
function editsAt(place: Place): readonly CodeEdit[] {
  const { node, source } = place
  if (node.type !== 'StringLiteral' && node.type !== 'TemplateLiteral') return codeEdits(place)
  const [at, until] = [node.start! + 1, node.end! - 1]
  const text = source.slice(at, until)
  if (!isSql(text)) return codeEdits(place)
  return sqlEdits(text).map(edit => ({ ...edit, at: edit.at + at, until: edit.until + at }))
}

function mutantOf(file: string, { node, parents, source }: Place, edit: CodeEdit): Mutant | null {
  const { operator, at, until, text } = edit
  const isStatement = operator === 'call'
  const [switched, around] = isStatement ? [node, parents] : switchable(edit.on ?? holderOf(node, edit), parents, node)
  if (!switched) return null
  const { start, end } = spanOf(switched)
  const line = source.slice(0, at).split('\n').length
  const kind = isStatement ? 'statement' : 'expression'
  const body = around.find(isFunction) as FunctionNode | undefined
  const within = body && start >= body.body.start! ? spanOf(body.body) : null
  return { file, operator, at, until, text, start, end, kind, line, change: changeOf(source, edit, start, end), within }
}

/** The node that holds the change: the condition of an `if`, the value of a `return`, or the node itself. */
function holderOf(node: t.Node, { at, until }: CodeEdit): t.Node {
  const parts = [node, ...('test' in node && node.test ? [node.test as t.Node] : [])]
  if ('argument' in node && node.type === 'ReturnStatement') parts.push(node.argument as t.Node)
  if (node.type === 'ArrowFunctionExpression') parts.push(node.body)
  const fitting = parts.filter(part => part.start! <= at && part.end! >= until)
  return fitting.at(-1) ?? node
}

/** The nearest expression, outwards, that can be chosen between two without meaning something else. */
function switchable(holder: t.Node, parents: readonly t.Node[], node: t.Node): [t.Node | null, readonly t.Node[]] {
  const chain = holder === node ? [node, ...parents] : [holder, node, ...parents]
  for (let i = 0; i < chain.length; i++) {
    const one = chain[i]!
    const parent = chain[i + 1]
    if (!parent || /Statement$|Declaration$|^Program$/.test(one.type)) return [null, []]
    if (isValue(one) && !isBound(one, parent)) return [one, chain.slice(i + 1)]
  }
  return [null, []]
}

const isValue = (node: t.Node) => /Expression$|Literal$|^Identifier$/.test(node.type)

/** True if a node means something by where it stands: a callee, a link of a chain, a target, a template of a tag. */
function isBound(node: t.Node, parent: t.Node): boolean {
  switch (parent.type) {
    case 'CallExpression':
    case 'NewExpression':
    case 'OptionalCallExpression':
      return parent.callee === node
    case 'MemberExpression':
    case 'OptionalMemberExpression':
      return /^Optional/.test(node.type) && parent.object === node
    case 'TSNonNullExpression':
      return /^Optional/.test(node.type)
    case 'TaggedTemplateExpression':
      return true
    case 'AssignmentExpression':
      return parent.left === node
    case 'UpdateExpression':
      return true
    case 'UnaryExpression':
      return parent.operator === 'delete'
    case 'ForOfStatement':
    case 'ForInStatement':
      return parent.left === node
    default:
      return (
        /^(?:Import|Export|VariableDeclarator|SpreadElement)/.test(parent.type) &&
        !('init' in parent) &&
        !/Spread/.test(parent.type)
      )
  }
}

function declaredBy(program: t.Program): readonly Declared[] {
  return program.body.flatMap(statement => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declaration?.type === 'ClassDeclaration') return fieldsOf(declaration)
    if (declaration?.type !== 'VariableDeclaration') return []
    // What a function names is reached when it is called.
    return declaration.declarations.flatMap(({ id, init }) =>
      init && !isFunction(init) ? namesOf(id).map(name => ({ name, ...spanOf(init), isField: false })) : [],
    )
  })
}

function fieldsOf({ id, body }: t.ClassDeclaration): readonly Declared[] {
  return body.body.flatMap(member =>
    (member.type === 'ClassProperty' || member.type === 'ClassPrivateProperty') && member.value && id
      ? [{ name: id.name, ...spanOf(member.value), isField: true }]
      : [],
  )
}

function namesOf(id: t.Node): string[] {
  if (id.type === 'Identifier') return [id.name]
  if (id.type !== 'ObjectPattern') return []
  return id.properties.flatMap(property => (property.type === 'ObjectProperty' ? namesOf(property.value) : []))
}

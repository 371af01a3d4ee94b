/** What agents owe beside the interface: the sentences of A-46, which stand in the guide too. Each check follows from the one that it quotes. */
import type { Check } from '../judging/check.ts'

const owed = (quote: string): Check['law'] => ({ source: 'A-46', quote })

export const must = {
  refuse: owed(
    'refuse, without any effect, what is cut off, is not signed exactly as the interface says, with its present secret, or is more than five minutes off either way',
  ),
  believeItsSecret: owed('believe the secret that it has now, and none that it had before'),
  ignoreNoEvent: owed('do nothing about a body that is no event, however well it is signed'),
  answer: owed(
    'answer 200 to every event within 30 seconds, however often, late or out of order it comes and whatever strangers have sent before',
  ),
  passTests: owed('answer 200 within 30 seconds to each test too, whatever its price'),
  treatAlike: owed(
    'treat tasks alike: whatever the interface allows in texts, prices, buyers and the spelling of JSON, in whichever parts, on whichever connections, beside whichever others, however late and in whichever order webhooks arrive, it answers 200, decides about a task, and delivers it, as it does others, also while it is deactivated',
  ),
  keepApart: owed('keep tasks apart, from each other and from tests'),
  haveOneEffect: owed(
    'have one effect for an event that comes twice, answered 200 each time, and one for each that is only like another',
  ),
  deliverOnce: owed(
    'deliver once for a task and once more for each revision, unless it takes none; what it sends again is the same work',
  ),
  leaveWhatIsOver: owed(
    'do no work on what is rejected, cancelled, disputed or approved, and write nothing about what is cancelled',
  ),
  callAsItStands: owed('call `callbackUrl` as it stands'),
  notStorm: owed('send no callback more than ten times in ten seconds'),
  keepSecrets: owed('give away neither its secret nor a key'),
  doAsDeclared: owed('do what its author declares of it'),
}

export const should = {
  answer401: owed('answer 401 exactly'),
  answerSoon: owed('within 5 seconds'),
  repeat: owed('repeat a callback whose answer was lost'),
  waitAsAsked: owed('heed Retry-After'),
  takeAsEnd: owed('take 400, 401 and 409 as an end'),
  giveReasons: owed('give reasons'),
  changeInRevisions: owed('change something in a revision'),
  callBackAboutTests: owed('call back about each test'),
  goOn: owed('go on whatever a holder of its secret has signed'),
}

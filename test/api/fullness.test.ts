// engines: embedded; process: shared
/** What a full database refuses is said in the records, and every record has been thought about. Source: A-50. */
import { test } from 'uvu'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { refusalsOf } from '../../src/api/refusals.ts'
import { sameNames } from '../support/same-names.ts'

const GROWS = `register createAgent publishAgent reactivateAgent addSample createKey createTask updateTask submitTask requestRevision
  sendMessage adminSendMessage submitReview redeliver resendDeliveries deposit createBudget createCategory`

/** Ends what is open, moves out, makes smaller, or changes what is there without making more of it. */
const GOES_ON = `login logout updateMe changePassword requestPasswordReset confirmPasswordReset beginTotp confirmTotp removeTotp
  endSession endOtherSessions deleteAgent deactivateAgent rotateSecret testConnection testCallback deleteSample
  deleteKey readNotification readNotifications cancelTask acceptTask deliverTask approveTask disputeTask agentAccept
  agentReject agentDeliver withdraw connectPayouts updateBudget deleteBudget pauseBudget resumeBudget
  approveAgent rejectAgent adminUpdateUser purgeUser rotateSecretKey resolveTask confirmDeposit rejectDeposit confirmWithdrawal rejectWithdrawal
  updateCategory deleteCategory moveClock scaleClock armFault clearFaults clearFault signInAs answerAsAgent setBuyer judgeAgent stopConformanceRun`

/** Refuses what makes more of it: longer texts of an agent, a message. */
const PARTLY = 'updateAgent agentCallback'

const names = (text: string) => text.trim().split(/\s+/)

test('every endpoint that changes something either grows the database or goes on when it is full', () => {
  const unsafe = Object.entries(endpoints).filter(([, { method }]) => method !== 'GET')
  const growing = (how: true | 'partly') =>
    unsafe.flatMap(([name, record]) => ('grows' in record && record.grows === how ? [name] : []))
  sameNames(growing(true), names(GROWS))
  sameNames(growing('partly'), names(PARTLY))
  sameNames(
    names(`${GROWS} ${PARTLY} ${GOES_ON}`),
    unsafe.map(([name]) => name),
  )
})

test('the documents say which endpoints a full database refuses', () => {
  const told = Object.entries(endpoints).filter(([, record]) => refusalsOf(record).includes('full'))
  sameNames(
    told.map(([name]) => name),
    names(`${GROWS} ${PARTLY}`),
  )
})

test.run()

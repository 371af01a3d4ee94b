/** The pages of everybody: work, money and the account. */
export { default as Budgets } from './budgets.tsx'
export { default as Hire } from './hire.tsx'
export { default as HireOne } from './hire-one.tsx'
export { default as Inbox } from './inbox.tsx'
export { default as Settings } from './settings.tsx'
export { default as Tasks } from './tasks.tsx'
export { default as Wallet } from './wallet.tsx'

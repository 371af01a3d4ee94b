/** Names of reports. They stand apart, as the help of every command is made without the packages that write reports. */
export const reportNames = ['json', 'ctrf', 'junit', 'tap', 'sarif', 'github', 'badge', 'html'] as const
export type ReportName = (typeof reportNames)[number]

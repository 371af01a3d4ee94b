/** Requests of each address, counted where several processes share the limits. Nothing is lost with them in a crash. */
export const rateWindows = `
CREATE /*+ UNLOGGED */ TABLE rate_windows (
  category TEXT NOT NULL,
  address TEXT NOT NULL,
  count INTEGER NOT NULL,
  ends_at BIGINT NOT NULL,
  PRIMARY KEY (category, address)
);
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
`

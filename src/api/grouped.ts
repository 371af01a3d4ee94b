/** 50000 → `50,000`. Not by `toLocaleString`, whose first call takes 10 ms of a start. */
export const grouped = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

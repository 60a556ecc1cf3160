export const day = (date: string, more: object = {}) => ({
  date,
  users: 0,
  paid: 0,
  revenue: 0,
  up: 0,
  down: 0,
  ...more,
})

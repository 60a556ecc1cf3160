export const post = (path: string, body?: unknown) => ({
  path: `/admin/api/2fa/${path}`,
  method: 'POST',
  ...(body === undefined ? {} : { body }),
})

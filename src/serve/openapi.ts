/** @file The HTTP routes of `mua env-serve`, as OpenEnv's validator reads them. Episodes are played over the WebSocket `/ws`. */

const ROUTES = {
  '/health': 'get',
  '/metadata': 'get',
  '/schema': 'get',
  '/state': 'get',
  '/reset': 'post',
  '/step': 'post',
  '/mcp': 'post',
};

/** The answer of `GET /openapi.json`. The validator wants the routes of a simulation: /reset, /step and /state. */
export const openApi = (title: string) => ({
  openapi: '3.1.0',
  info: { title, version: '1' },
  paths: Object.fromEntries(
    Object.entries(ROUTES).map(([path, method]) => [path, { [method]: { responses: { 200: { description: 'OK' } } } }]),
  ),
});

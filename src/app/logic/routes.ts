/** @file The pages and their addresses. Everything stands in the hash: it works on any static host and is never sent. */

export type Route =
  | { name: 'home' }
  | { name: 'runs' }
  | { name: 'run'; run: string }
  | { name: 'group'; run: string; group: string }
  | { name: 'rollout'; run: string; id: string }
  | { name: 'settings' }
  | { name: 'not-found' };

export interface Place {
  route: Route;
  query: URLSearchParams;
}

/** Reads `location.hash`; what it does not know is `not-found`. */
export function parseHash(hash: string): Place {
  const [pathname = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return { route: parsePath(pathname), query: new URLSearchParams(search) };
}

function parsePath(pathname: string): Route {
  let parts: string[];
  try {
    parts = pathname.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return { name: 'not-found' }; // a lone % in an address typed by hand
  }
  const [first, run, kind, id] = parts;
  if (first === undefined) return { name: 'home' };
  if (first === 'settings' && parts.length === 1) return { name: 'settings' };
  if (first !== 'runs') return { name: 'not-found' };
  if (run === undefined) return { name: 'runs' };
  if (parts.length === 2) return { name: 'run', run };
  if (parts.length === 4 && kind === 'groups') return { name: 'group', run, group: id! };
  if (parts.length === 4 && kind === 'rollouts') return { name: 'rollout', run, id: id! };
  return { name: 'not-found' };
}

/** The address of a page; query values that are '' are left out. */
export function href(route: Route, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#${pathOf(route)}${search && `?${search}`}`;
}

function pathOf(route: Route): string {
  const part = encodeURIComponent;
  switch (route.name) {
    case 'runs':
      return '/runs';
    case 'run':
      return `/runs/${part(route.run)}`;
    case 'group':
      return `/runs/${part(route.run)}/groups/${part(route.group)}`;
    case 'rollout':
      return `/runs/${part(route.run)}/rollouts/${part(route.id)}`;
    case 'settings':
      return '/settings';
    default:
      return '/';
  }
}

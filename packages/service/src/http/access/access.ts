/**
 * Who can call a route: `public` needs no key and looks at none, `anyone` needs none but knows the caller, `metrics` needs
 * the metrics key, other routes a key or a session with that role.
 */
export type Access = 'public' | 'anyone' | 'metrics' | 'viewer' | 'editor' | 'admin';

/** The pages that have a name, and who may use them. Those with an icon are in the navigation. */
export const PAGES = [
  { to: '/', label: 'Start', icon: 'home', role: 'viewer' },
  { to: '/datasets', label: 'Datasets', icon: 'database', role: 'viewer' },
  { to: '/import', label: 'Hub import', icon: 'cloudDownload', role: 'editor' },
  { to: '/upload', label: 'Upload', icon: 'upload', role: 'editor' },
  { to: '/runs', label: 'Runs', icon: 'playerPlay', role: 'viewer' },
  { to: '/runs/new', label: 'New run', icon: null, role: 'editor' },
  { to: '/compare', label: 'Compare', icon: 'arrowsDiff', role: 'viewer' },
  { to: '/jobs', label: 'Jobs', icon: 'listCheck', role: 'viewer' },
  { to: '/status', label: 'Status', icon: 'activity', role: 'viewer' },
  { to: '/audit', label: 'Audit', icon: 'history', role: 'admin' },
  { to: '/settings', label: 'Settings', icon: 'settings', role: 'viewer' },
] as const;

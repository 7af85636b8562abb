import {
  IconActivity,
  IconArrowsDiff,
  IconCloudDownload,
  IconDatabase,
  IconHistory,
  IconHome,
  IconListCheck,
  IconPlayerPlay,
  IconSettings,
  IconUpload,
} from '../ui/icons.tsx';

/** The pages that have a name, and who may use them. Those with an icon are in the navigation. */
export const PAGES = [
  { to: '/', label: 'Start', icon: IconHome, role: 'viewer' },
  { to: '/datasets', label: 'Datasets', icon: IconDatabase, role: 'viewer' },
  { to: '/import', label: 'Hub import', icon: IconCloudDownload, role: 'editor' },
  { to: '/upload', label: 'Upload', icon: IconUpload, role: 'editor' },
  { to: '/runs', label: 'Runs', icon: IconPlayerPlay, role: 'viewer' },
  { to: '/runs/new', label: 'New run', icon: null, role: 'editor' },
  { to: '/compare', label: 'Compare', icon: IconArrowsDiff, role: 'viewer' },
  { to: '/jobs', label: 'Jobs', icon: IconListCheck, role: 'viewer' },
  { to: '/status', label: 'Status', icon: IconActivity, role: 'viewer' },
  { to: '/audit', label: 'Audit', icon: IconHistory, role: 'admin' },
  { to: '/settings', label: 'Settings', icon: IconSettings, role: 'viewer' },
] as const;

/** Pages with a form that only editors may send. */
export const EDITORS_ONLY: readonly string[] = PAGES.filter(({ role }) => role === 'editor').map(
  ({ to }) => to,
);

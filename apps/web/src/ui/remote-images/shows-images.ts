/**
 * Whether this page may ask other hosts for images. The service decides it when it sends the page, by a cookie of the
 * browser, because the policy of a page cannot be relaxed later.
 */
export const showsImages = (): boolean =>
  document.querySelector<HTMLMetaElement>('meta[name="svc-images"]')?.content === 'shown';

const SECONDS_OF_A_YEAR = 365 * 24 * 60 * 60;

/** Remembers for this browser whether images of other hosts are shown, and loads the page again under that policy. */
export function changeShowsImages(areShown: boolean): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const age = areShown ? SECONDS_OF_A_YEAR : 0;
  // biome-ignore lint/suspicious/noDocumentCookie: browsers have the Cookie Store API over HTTPS only
  document.cookie = `svc_images=shown; Path=/; SameSite=Strict; Max-Age=${age}${secure}`;
  location.reload();
}

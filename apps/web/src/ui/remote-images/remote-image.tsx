import { type ReactNode, useState } from 'react';
import { showsImages } from './shows-images.ts';

/** An image at another host, if this browser shows such images; else, or where it cannot be loaded, what stands for it. */
export function RemoteImage({
  address,
  alt,
  className,
  children,
}: {
  /** See `imageAddress`. */
  readonly address: string | undefined;
  readonly alt: string;
  readonly className: string;
  readonly children: ReactNode;
}) {
  const [failed, setFailed] = useState<string>();
  if (address === undefined || failed === address || !showsImages()) return children;
  return (
    <img
      className={className}
      src={address}
      alt={alt}
      loading="lazy"
      referrerPolicy="no-referrer"
      onError={() => setFailed(address)}
    />
  );
}

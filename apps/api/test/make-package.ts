import JSZip from 'jszip';

/** A zip archive of these files, as a user's tool would make it. */
export async function makePackage(
  files: Readonly<Record<string, string | Uint8Array>>,
  compression: 'DEFLATE' | 'STORE' = 'DEFLATE',
): Promise<Uint8Array<ArrayBuffer>> {
  const zip = new JSZip();
  for (const [name, content] of Object.entries(files)) zip.file(name, content);
  return (await zip.generateAsync({ type: 'uint8array', compression })) as Uint8Array<ArrayBuffer>;
}

/** The form of an upload; `fields` come after the file. */
export function uploadForm(
  archive: Uint8Array<ArrayBuffer>,
  fields: Readonly<Record<string, string>> = {},
  fileName = 'sample.pkg.zip',
): FormData {
  const form = new FormData();
  form.append('file', new Blob([archive]), fileName);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

/** A large value as canonical JSON text. It is stored as it is, so nothing has to parse it. */
export class JsonText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

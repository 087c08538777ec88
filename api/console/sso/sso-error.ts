// The error of the company's sign-in: a sentence for the person, and for the log what whoever runs this installation must mend.

/** `status` is the page's. Neither message nor log says a code, a token or a secret. */
export class CompanyProblem extends Error {
  override name = 'CompanyProblem';
  readonly status: number;
  /** For the log: what happened, and how it is mended. Absent for what only the person can mend. */
  readonly told: Record<string, string> | undefined;

  constructor(status: number, message: string, told?: Record<string, string>) {
    super(message);
    this.status = status;
    this.told = told;
  }
}

export const beginAgain = () =>
  new CompanyProblem(400, 'This sign-in took too long, has been finished already, or began in another browser. Begin again.');

/** The part of mailauth that the tests use; the package has no types. */
declare module "mailauth/lib/dkim/verify.js" {
  type Resolver = (name: string, type: string) => Promise<string[][]>;
  export function dkimVerify(
    message: Buffer,
    options: { resolver: Resolver },
  ): Promise<{ results: { status: { result: string; comment?: string } }[] }>;
}

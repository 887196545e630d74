/** An object that stands in for a real one, and creates it only if a member is used that it lacks. */
export interface Lazy<Real extends object> {
  readonly real: Real;
}

/**
 * Completes a lazy class: instances pass `instanceof Real`, and members of `Real` that the class lacks delegate to the
 * `real` object. The real constructor cannot copy a lazy object: use `request.clone()`, not `new Request(request)`.
 *
 * Creating a Request, Headers and Response takes several microseconds each, more than the rest of a health check.
 */
export function delegateToReal<Real extends object>(
  LazyClass: { prototype: Lazy<Real> },
  RealClass: { prototype: Real },
): void {
  const { prototype } = LazyClass;
  Object.defineProperty(prototype, "constructor", { value: RealClass });
  for (const name of Reflect.ownKeys(RealClass.prototype)) {
    if (Object.hasOwn(prototype, name)) continue;
    const member = Object.getOwnPropertyDescriptor(RealClass.prototype, name);
    const key = name as keyof Real;
    if (member?.get) {
      Object.defineProperty(prototype, name, {
        get(this: Lazy<Real>) {
          return this.real[key];
        },
      });
    } else if (typeof member?.value === "function") {
      Object.defineProperty(prototype, name, {
        value(this: Lazy<Real>, ...args: unknown[]) {
          return (this.real[key] as (...args: unknown[]) => unknown)(...args);
        },
      });
    }
  }
  Object.setPrototypeOf(prototype, RealClass.prototype);
}

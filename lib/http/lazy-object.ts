/** An object that passes for a real one, and makes it only when it is asked for what it does not have itself. */
export interface Lazy<Real extends object> {
  readonly real: Real;
}

/**
 * Completes a class of stand-ins: an instance passes `instanceof Real`, and every member of `Real` that the
 * class lacks, those named by symbols too, is that of its `real` object. What no stand-in can do is be copied by the
 * constructor: instead of `new Request(request)` write `request.clone()`.
 *
 * A Request, a Headers and a Response cost several microseconds each to make, most of it for streams that
 * a short JSON answer never uses; that is more than all the rest of a health check.
 */
export function delegateToReal<Real extends object>(
  StandInClass: { prototype: Lazy<Real> },
  RealClass: { prototype: Real },
): void {
  const { prototype } = StandInClass;
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

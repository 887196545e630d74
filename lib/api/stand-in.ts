/** An object that passes for a real one, and makes it only when it is asked for what it does not have itself. */
export interface StandIn<Real extends object> {
  readonly real: Real;
}

/**
 * Completes a class of stand-ins: an instance passes `instanceof Real`, and every member of `Real` that the
 * class lacks is that of its `real` object.
 *
 * A Request, a Headers and a Response cost several microseconds each to make, most of it for streams that
 * a short JSON answer never uses; that is more than all the rest of a health check.
 */
export function completeStandIn<Real extends object>(
  StandInClass: { prototype: StandIn<Real> },
  RealClass: { prototype: Real },
): void {
  const { prototype } = StandInClass;
  for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(RealClass.prototype))) {
    if (Object.hasOwn(prototype, name)) continue;
    const key = name as keyof Real;
    if (member.get) {
      Object.defineProperty(prototype, name, {
        get(this: StandIn<Real>) {
          return this.real[key];
        },
      });
    } else if (typeof member.value === "function") {
      Object.defineProperty(prototype, name, {
        value(this: StandIn<Real>, ...args: unknown[]) {
          return (this.real[key] as (...args: unknown[]) => unknown)(...args);
        },
      });
    }
  }
  Object.setPrototypeOf(prototype, RealClass.prototype);
}

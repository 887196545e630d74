const roundMs = 2;

let waiting = 0;
let endsAtMs = 0;
/** Whether the round has ended, and the next begins with the next turn. */
let isOver = false;

/**
 * Bounds what requests take in one turn of the event loop, because libuv accepts one connection a turn
 * (libuv/libuv#3696): a newcomer waited for as many rounds of all busy clients as connections were ahead of its own.
 *
 * @returns `undefined` if a request may begin; otherwise it may once this resolves, first come, first served
 */
export function shortRound(): Promise<void> | undefined {
  if (waiting === 0 && hasTime()) return undefined;
  waiting++;
  return new Promise((begin) => setImmediate(goOn, begin));
}

function goOn(begin: () => void): void {
  if (!hasTime()) {
    setImmediate(goOn, begin);
    return;
  }
  waiting--;
  begin();
}

/** Costs a call only while there is time: a round that has ended is noticed by the next request, however late. */
function hasTime(): boolean {
  if (isOver) return false;
  if (performance.now() < endsAtMs) return true;
  isOver = true;
  setImmediate(() => {
    isOver = false;
    endsAtMs = performance.now() + roundMs;
  });
  return false;
}

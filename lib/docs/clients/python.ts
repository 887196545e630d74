/** A complete client in Python 3.9 and newer, without dependencies. `tests/lib/docs/clients.test.ts` runs it. */
export const pythonClient = `
import json, math, os, random, time, urllib.error, urllib.request

SECONDS_AFTER_NO = 600  # asks again, because the owner may have chosen a plan
MAX_SECONDS_AFTER_FAULT = 300


def now_seconds():
    """A monotonic clock that includes sleep."""
    if not hasattr(time, "clock_gettime"):
        return time.monotonic()  # Windows
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class CompanyGate:
    """Tracks whether the company may run and when to ask again. Run while may_run() is true; otherwise show why."""

    def __init__(self, url, read_token):
        """read_token returns the session token, or "" if a person has to sign in first. It raises during an outage."""
        self.url, self.read_token = url, read_token
        self.why, self.yes_until, self.faults, self.dead_token = "not_asked", 0.0, 0, ""

    def may_run(self, now=None):
        return (now_seconds() if now is None else now) < self.yes_until

    def ask(self, now=None):
        """Asks once. Returns the seconds until the next call; infinity: call again after a new sign-in."""
        now = now_seconds() if now is None else now
        try:
            token = self.read_token()
        except Exception:
            return self.hold("unreachable", 0, now)
        if token in ("", self.dead_token):
            return self.stop("signed_out", math.inf)
        status, answer, retry_after = self.fetch_entitlement(token)
        if status == 200 and answer.get("ok") is True:
            self.why, self.faults = answer["status"], 0
            self.yes_until = now + answer["recheckAfterSeconds"]
            return max(1, answer["recheckAfterSeconds"] * random.uniform(0.9, 1))  # a little early, never late
        code = answer.get("error", {}).get("code", "unreachable")
        if status == 401:
            self.dead_token = token  # this token never works again: have the owner sign in
            return self.stop(code, math.inf)
        if status == 403 or code == "not_configured":
            return self.stop(code, SECONDS_AFTER_NO * random.uniform(1, 1.1))
        return self.hold(code, retry_after, now)

    def hold(self, code, retry_after, now):
        """429, 503, no network or no JSON are not refusals: the last yes stays valid until it expires."""
        self.why = self.why if self.may_run(now) else code
        backoff = min(MAX_SECONDS_AFTER_FAULT, 5 * 2**self.faults)
        self.faults += 1
        return max(retry_after, backoff) * random.uniform(1, 1.2)

    def stop(self, why, seconds):
        self.why, self.faults, self.yes_until = why, 0, 0.0
        return seconds

    def fetch_entitlement(self, token):
        request = urllib.request.Request(self.url + "/api/entitlement")
        request.add_header("Authorization", "Bearer " + token)
        try:
            try:
                response = urllib.request.urlopen(request, timeout=10)
            except urllib.error.HTTPError as refused:
                response = refused
            with response:
                answer = json.load(response)
                retry_after = int(response.headers.get("Retry-After") or 0)
                return response.status, answer if isinstance(answer, dict) else {}, retry_after
        except (OSError, ValueError):
            return 0, {}, 0


if __name__ == "__main__":
    gate = CompanyGate(os.environ["CORNER_OFFICE_URL"], lambda: os.environ.get("CORNER_OFFICE_TOKEN", ""))
    seconds = gate.ask()  # an app asks again after this many seconds, and when it wakes up
    print("run" if gate.may_run() else "wait", gate.why, seconds)
`;

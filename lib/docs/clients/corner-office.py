# Corner Office client 1.4.0, for Python 3.9 and newer. Nothing else to install.
import base64, contextlib, hashlib, json, math, os, random, secrets, threading, time, urllib.error, urllib.parse, urllib.request

SECONDS_AFTER_NO = 600  # asks again, because the owner may have chosen a plan
SECONDS_AFTER_FAULT, MAX_SECONDS_AFTER_FAULT = 5, 300
MAX_SECONDS = 3600  # no answer is good for longer
TIMEOUT_SECONDS = 10
MAX_BYTES = 65536  # an answer has far fewer


def now_seconds():
    """A monotonic clock that includes sleep."""
    if not hasattr(time, "clock_gettime"):
        return time.monotonic()  # Windows
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token to another host."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirects)


NONCE = [""]  # of a service whose clock differs


def fetch_json(url, token="", key=None, **fields):
    """Returns the status, the JSON object and Retry-After; 0, {} and 0 if nothing came back within ten seconds that can
    be an answer of the service: no network, a redirect, a proxy's page."""
    for _ in (1, 2):
        found = []
        thread = threading.Thread(target=lambda: found.append(send(url, token, key, fields)), daemon=True)
        thread.start()
        thread.join(TIMEOUT_SECONDS)  # urllib's own is for each read
        *answer, nonce = found[0] if found else (0, {}, 0, "")
        if not nonce:
            break
        NONCE[0] = nonce
    return tuple(answer)


def send(url, token, key, fields):
    body = urllib.parse.urlencode(fields).encode() if fields else None
    try:
        headers = authorize(token, "GET", url, NONCE[0]) if token else {}
        if key:
            headers["DPoP"] = prove(key, "POST", url, NONCE[0])
        request = urllib.request.Request(url, body, headers)
        try:
            response = OPENER.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as refused:
            response = refused
        with response:
            answer = json.loads(response.read(MAX_BYTES))
            if 300 <= response.status < 400 or not isinstance(answer, dict):
                return 0, {}, 0, ""
            retry_after = (response.headers.get("Retry-After") or "")[:9]
            seconds = int(retry_after) if retry_after.isdecimal() else 0  # no date
            nonce = response.headers.get("DPoP-Nonce") or ""
            return response.status, answer, min(seconds, MAX_SECONDS), nonce
    except Exception:  # no network, a body cut short, no JSON
        return 0, {}, 0, ""


def seconds_in(answer, name):
    """A field in seconds, an hour at most; 0 if it is missing or no positive number."""
    value = answer.get(name)
    return min(value, MAX_SECONDS) if is_number(value) and value > 0 else 0


def is_text(value):
    return isinstance(value, str) and value != ""


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- The loop ---


class CompanyGate:
    """Tracks whether the company may run and when to ask again. Run while may_run() is true; otherwise show why."""

    def __init__(self, url, read_token):
        """read_token returns the session token, or "" if a person has to sign in first. It raises during an outage.
        It gets the token that no longer works, to renew it."""
        self.url, self.read_token = url, read_token
        self.why, self.yes_until, self.faults, self.dead_token = "not_asked", 0.0, 0, ""
        # The name of what the owner has; features and limits say what is in it.
        self.plan, self.features, self.limits = "", [], {}
        self.woken, self.is_ended = threading.Event(), False

    def may_run(self, now=None):
        return (now_seconds() if now is None else now) < self.yes_until

    def has(self, feature, now=None):
        """Whether the plan has a feature, and the company may run."""
        return self.may_run(now) and feature in self.features

    def limit(self, name, now=None):
        """The most that the plan allows: infinity for what it does not limit, and 0 while the company may not run."""
        most = self.limits.get(name)
        most = math.inf if most is None else most
        return most if self.may_run(now) and is_number(most) else 0

    def keep_asking(self, on_answer):
        """Asks until end() is called. Call wake() to ask at once: after a sign-in, and when the machine wakes up."""
        while not self.is_ended:
            self.woken.clear()
            seconds = self.ask()
            on_answer()
            self.woken.wait(min(seconds, MAX_SECONDS))  # asking about a dead token sends nothing

    def wake(self):
        self.woken.set()

    def end(self):
        self.is_ended = True
        self.wake()

    def ask(self, now=None):
        """Asks once. Returns the seconds until the next call; infinity: call again after a new sign-in."""
        now = now_seconds() if now is None else now
        for attempt in (1, 2):
            try:
                token = self.read_token(self.dead_token)
            except Exception:
                return self.hold("unreachable", 0, now)
            if token in ("", self.dead_token):
                return self.stop("signed_out", math.inf)
            status, answer, retry_after = fetch_json(self.url + "/api/entitlement", token)
            recheck, error = seconds_in(answer, "recheckAfterSeconds"), answer.get("error")
            if status == 200 and answer.get("ok") is True and recheck > 0:
                self.keep_contents(answer)
                self.why, self.faults, self.yes_until = str(answer.get("status")), 0, now + recheck
                return max(1, recheck * random.uniform(0.9, 1))  # a little early, never late
            code = error.get("code") if isinstance(error, dict) else None
            if not isinstance(code, str) or code == "":
                return self.hold("unreachable", retry_after, now)  # not the service's answer
            if status != 401:
                break
            self.dead_token = token  # it never works again, perhaps before it expires: one attempt to renew it
        if status == 401:
            return self.stop(code, math.inf)
        if status == 403 or code == "not_configured":
            return self.stop(code, SECONDS_AFTER_NO * random.uniform(1, 1.1))
        return self.hold(code, retry_after, now)

    def keep_contents(self, answer):
        """Services before plans send none of this, and only assistantLimit."""
        plan, features, limits = answer.get("plan"), answer.get("features"), answer.get("limits")
        self.plan = plan if is_text(plan) else ""
        self.features = features if isinstance(features, list) else []
        limits = limits if isinstance(limits, dict) else {}
        self.limits = {"assistants": answer.get("assistantLimit"), **limits}

    def hold(self, code, retry_after, now):
        """429, 502, 503, no network or no JSON are not refusals: the last yes stays valid until it expires."""
        self.why = self.why if self.may_run(now) else code
        backoff = min(MAX_SECONDS_AFTER_FAULT, SECONDS_AFTER_FAULT * 2**self.faults)
        self.faults = min(self.faults + 1, 10)
        return max(retry_after, backoff) * random.uniform(1, 1.2)

    def stop(self, why, seconds):
        self.why, self.faults, self.yes_until = why, 0, 0.0
        return seconds


# --- The key ---

BOUND = {}  # the key of each token that is bound to one


def authorize(token, method, url, nonce=""):
    """The headers of a request with a session token, also of one to your own server. A token that is bound to this
    program's key needs a proof for each (DPoP, RFC 9449); so a copy of it is worth nothing elsewhere."""
    key = BOUND.get(token)
    if not key:
        return {"Authorization": "Bearer " + token}
    return {"Authorization": "DPoP " + token, "DPoP": prove(key, method, url, nonce, token)}


def prove(key, method, url, nonce="", token=""):
    x, y = (base64url(n.to_bytes(32, "big")) for n in multiply(key))
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": {"kty": "EC", "crv": "P-256", "x": x, "y": y}}
    claims = {"jti": secrets.token_urlsafe(16), "htm": method, "htu": url.split("?")[0].split("#")[0]}
    claims["iat"] = int(time.time())
    if token:
        claims["ath"] = base64url(hashlib.sha256(token.encode()).digest())
    if nonce:
        claims["nonce"] = nonce
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
    return signed + "." + base64url(sign(key, signed.encode()))


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


# ECDSA on P-256 (FIPS 186-5), which Python itself lacks. It takes some milliseconds, a few times an hour.
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def sign(key, data):
    digest = int.from_bytes(hashlib.sha256(data).digest(), "big")
    while True:
        once = secrets.randbelow(ORDER - 1) + 1
        r = multiply(once)[0] % ORDER
        s = pow(once, -1, ORDER) * (digest + r * key) % ORDER
        if r and s:
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def multiply(factor):
    result, power = None, BASE
    for bit in range(256):
        if factor >> bit & 1:
            result = add(result, power)
        power = add(power, power)
    return result


def add(one, other):
    """Of two points; None is the one at infinity."""
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    rise, run = (3 * x1 * x1 - 3, 2 * y1) if one == other else (y2 - y1, x2 - x1)
    slope = rise * pow(run, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


# --- The connection ---


class Connection:
    """Keeps and renews the session token of a program that its owner has approved."""

    def __init__(self, url, client_id, vault):
        """vault stores one refresh token where the system stores passwords: read(), "" if there is none, and write(token).
        If it has open_key(), tokens are bound to that key; else anyone can use a copy of them."""
        self.url, self.client_id, self.vault = url, client_id, vault
        self.token, self.renew_at, self.turn = "", 0.0, threading.Lock()

    def read_token(self, dead_token="", now=None):
        """Returns the session token, or "" if the owner has to approve first. Raises OSError during an outage."""
        now = now_seconds() if now is None else now
        with self.turn:  # one at a time, so that the newest refresh token is kept
            if self.token != dead_token and now < self.renew_at:
                return self.token
            refresh_token = self.vault.read()
            if refresh_token == "":
                return ""
            status, answer = self.post("/oauth/token", grant_type="refresh_token", refresh_token=refresh_token)
            if status == 400 and answer.get("error") == "invalid_grant":
                self.vault.write("")  # ended by the owner or the operator, or because it was not used
                self.token, self.renew_at = "", 0.0
                return ""
            return self.keep(status, answer, now)

    def connect(self, show, pause=time.sleep):
        """Asks for approval, which the owner gives on any device. Raises PermissionError if they decline, TimeoutError if
        they do not answer in time, and ConnectionError during an outage."""
        status, asked = self.post("/oauth/device", scope="account:read")
        names = ("device_code", "user_code", "verification_uri", "verification_uri_complete")
        if status != 200 or not all(is_text(asked.get(name)) for name in names):
            raise ConnectionError(f"no code now: {status}")
        show(*(asked[name] for name in names[1:]))
        wait, ends = max(5, seconds_in(asked, "interval")), now_seconds() + seconds_in(asked, "expires_in")
        grant = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": asked["device_code"]}
        while now_seconds() < ends:
            pause(wait)
            status, answer = self.post("/oauth/token", **grant)
            error = answer.get("error")
            if status == 200 and "access_token" in answer:
                with self.turn:
                    return self.keep(status, answer, now_seconds())
            if error == "access_denied":
                raise PermissionError(answer.get("error_description", error))
            if error in ("expired_token", "invalid_grant"):
                break
            if error == "slow_down":
                wait += 5
        raise TimeoutError("the owner did not answer in time")

    def keep(self, status, answer, now):
        if status != 200 or not all(is_text(answer.get(name)) for name in ("access_token", "refresh_token")):
            raise ConnectionError(f"no token now: {status}")
        self.vault.write(answer["refresh_token"])
        BOUND.pop(self.token, None)
        if str(answer.get("token_type")).lower() == "dpop":  # a service before this version binds to no key
            BOUND[answer["access_token"]] = self.open_key()
        self.token, self.renew_at = answer["access_token"], now + seconds_in(answer, "expires_in") - 60
        return self.token

    def post(self, path, **fields):
        key = self.open_key() if path == "/oauth/token" else None
        return fetch_json(self.url + path, key=key, client_id=self.client_id, **fields)[:2]

    def open_key(self):
        return getattr(self.vault, "open_key", lambda: None)()


class FileVault:
    """A vault in a file that only this user may read, and the key in another. With the package keyring, use the system's
    keychain instead."""

    def __init__(self, path):
        self.path = path

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def write(self, refresh_token):
        made = self.path + "." + secrets.token_hex(8)  # another process may write too
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(refresh_token)
        os.replace(made, self.path)  # all or nothing

    def open_key(self):
        """The key is made on first use, by whichever process is first."""
        path = self.path + ".key"
        if not os.path.exists(path):
            made = path + "." + secrets.token_hex(8)
            with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(format(secrets.randbelow(ORDER - 1) + 1, "x"))
            try:
                os.link(made, path)
            except FileExistsError:
                pass
            except OSError:  # Android and some drives have no links
                os.replace(made, path)
            with contextlib.suppress(FileNotFoundError):
                os.remove(made)
        with open(path, encoding="utf-8") as file:
            return int(file.read(), 16)


def main():
    url = os.environ["CORNER_OFFICE_URL"]
    connection = Connection(url, "native", FileVault(os.path.expanduser("~/.corner-office")))
    gate = CompanyGate(url, connection.read_token)

    def show(code, where, link):
        print(f"Open {where} and enter {code}, or open {link}", flush=True)

    def on_answer():
        print("run" if gate.may_run() else "wait", gate.why, flush=True)
        if gate.why != "signed_out":
            return
        try:
            connection.connect(show)
        except PermissionError as declined:
            print(declined, flush=True)  # the loop asks again in an hour
            return
        except OSError as failure:  # an outage, or no answer in time: with another code
            print(failure, flush=True)
            time.sleep(SECONDS_AFTER_FAULT)
        gate.wake()

    gate.keep_asking(on_answer)


if __name__ == "__main__":
    main()

# Corner Office backend client 1.4.0, for Python 3.9 and newer. Needs the package cryptography, and nothing else.
import base64, contextlib, email.utils, json, random, threading, time, urllib.error, urllib.request, uuid
from decimal import Decimal
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

TIMEOUT_SECONDS = 10  # for one attempt
ASSERTION_SECONDS = 60
MAX_BACKOFF_SECONDS = 10
PAGE_SIZE = 1000  # what one request lists, and spends, at most
MAX_BYTES = 8 * 1024 * 1024  # a list of a thousand entries has fewer

Amount = Union[str, int, Decimal]  # credits to three decimals; answers have int and Decimal
Answer = Dict[str, Any]  # an object of the API, with the fields that /docs lists
# The status, the JSON object, Retry-After, and how far the clock of the service is ahead of ours.
Reply = Tuple[int, Answer, int, Optional[float]]
NOTHING: Reply = (
    0,
    {},
    0,
    None,
)  # what came back cannot be an answer of the service: no network, a redirect, a proxy's page


class Refused(Exception):
    """The service refused, and wrote nothing. Branch on code; answer has figures such as balance."""

    def __init__(self, status: int, answer: Answer):
        error = answer["error"]
        super().__init__(f"{error.get('message')} {error.get('hint')}")
        self.status, self.code, self.answer = status, error["code"], answer


class Outage(ConnectionError):
    """No answer of the service came in time. What was asked for may have been done: call again with the same key, also
    days later, and it is done once."""

    def __init__(self, message: str, key: str):
        super().__init__(message)
        self.key = key


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the assertion to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


OPENER = urllib.request.build_opener(NoRedirects)


class BackendApi:
    """Calls the backend API. Every method raises Refused or Outage. Those that write take an idempotency key: give one
    that you can make again, such as the id of a job, if your program may end before it has the answer."""

    def __init__(
        self, url: str, backend: str, private_key: str, patience_seconds: float = 60, audience: Optional[str] = None
    ):
        """url is BACKEND_URL, backend the id that "backend add" printed, and private_key its PEM, Ed25519 or P-256.
        patience_seconds is how long a call is repeated during an outage, and audience is BACKEND_URL if you reach it at
        another address."""
        self.url, self.backend, self.patience_seconds = url.rstrip("/"), backend, patience_seconds
        pem = private_key.replace("\\n", "\n")  # as environments have it in one line
        key = load_pem_private_key(pem.encode(), None)
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
                raise ValueError("the private key is neither Ed25519 nor P-256")
        self.private_key = key
        self.audience = self.url if audience is None else audience
        self.clock_offset = 0.0  # how far the clock of the service is ahead of ours, once it has refused ours

    def account(self, id: str) -> Answer:
        return self.call("id", f"/v1/accounts/{escape(id)}")

    def accounts(self, **filters: str) -> Iterator[Answer]:
        """All accounts, those of a plan= or state=, or the one with an email= or reference=."""
        return self.pages("accounts", filters)

    def plans(self) -> Iterator[Answer]:
        """All plans, from the least to the most."""
        return self.pages("plans", {})

    def entries(self, account: Optional[str] = None, after: str = "") -> Iterator[Answer]:
        """The entries of an account, or of all, oldest first, that follow the one with the id after. Keep the id of the
        last, and ask later for what came since."""
        return self.follow(
            "entries", "/v1/entries" if account is None else f"/v1/accounts/{escape(account)}/entries", after
        )

    def events(self, after: str = "") -> Iterator[Answer]:
        """What happened to all accounts, oldest first, after the event with the id after."""
        return self.follow("events", "/v1/events", after)

    def check(self, token: str, key: Optional[str] = None, **more: Any) -> Answer:
        """Whether the owner of a session token may run: ok is true or false. If they may, spends or holds in the same
        step what spend= or hold= says, with the fields of those requests."""
        try:
            return self.call("ok", "/v1/checks", {"token": token, **more}, key)
        except Refused as refused:
            if refused.answer.get("ok") is False:
                return refused.answer
            raise

    def spend(
        self, account: str, credits: Amount, reason: str, reference: Optional[str] = None, key: Optional[str] = None
    ) -> Answer:
        fields = given(credits=credits, reason=reason, reference=reference)
        return self.call("id", f"/v1/accounts/{escape(account)}/spends", fields, key)

    def hold(
        self,
        account: str,
        credits: Amount,
        reason: str,
        expires_in_seconds: int,
        reference: Optional[str] = None,
        key: Optional[str] = None,
    ) -> Answer:
        fields = given(credits=credits, reason=reason, reference=reference, expiresInSeconds=expires_in_seconds)
        return self.call("id", f"/v1/accounts/{escape(account)}/holds", fields, key)

    def settle(self, hold: str, credits: Optional[Amount] = None, key: Optional[str] = None) -> Answer:
        """Spends what is held: all, or less, and the rest goes back at once; or more, which has to be there."""
        return self.call("id", f"/v1/holds/{escape(hold)}/settle", given(credits=credits), key)

    def release(self, hold: str, key: Optional[str] = None) -> Answer:
        return self.call("id", f"/v1/holds/{escape(hold)}/release", {}, key)

    @contextlib.contextmanager
    def holding(
        self,
        account: str,
        credits: Amount,
        reason: str,
        expires_in_seconds: int,
        reference: Optional[str] = None,
        key: Optional[str] = None,
    ) -> Iterator[Answer]:
        """Holds credits for a with block. Then what the block has put into hold["used"] is spent, also if it raises. If
        it has put nothing there, all is spent, or nothing if it raises."""
        key = key or str(uuid.uuid4())
        hold = self.hold(account, credits, reason, expires_in_seconds, reference, key)
        try:
            yield hold
        except BaseException:
            if "used" in hold:
                self.settle(hold["id"], hold["used"], f"{key} end")
            else:
                self.release(hold["id"], f"{key} end")
            raise
        self.settle(hold["id"], hold.get("used"), f"{key} end")

    def reverse(self, entry: str, reason: str, credits: Optional[Amount] = None, key: Optional[str] = None) -> Answer:
        """Gives a spend back, or a part of it."""
        return self.call("id", f"/v1/entries/{escape(entry)}/reverse", given(credits=credits, reason=reason), key)

    def set_reference(self, account: str, reference: Optional[str], key: Optional[str] = None) -> Answer:
        """Sets your own name for an account, which no other has; None takes it away."""
        return self.call("id", f"/v1/accounts/{escape(account)}/reference", {"reference": reference}, key)

    def spend_each(self, spends: List[Answer], key: Optional[str] = None) -> List[Answer]:
        """Spends many times, each for itself: what came of each is in its place. A thousand are one request."""
        key = key or str(uuid.uuid4())
        results: List[Answer] = []
        for at in range(0, len(spends), PAGE_SIZE):
            part = {"spends": spends[at : at + PAGE_SIZE]}
            results += self.call("results", "/v1/batches", part, f"{key} {at}")["results"]
        return results

    def spend_all(self, spends: List[Answer], key: Optional[str] = None) -> List[Answer]:
        """Spends up to a thousand times, all or nothing."""
        results: List[Answer] = self.call("results", "/v1/batches", {"spends": spends, "all": True}, key)["results"]
        return results

    def pages(self, field: str, filters: Dict[str, str]) -> Iterator[Answer]:
        after: Optional[str] = ""
        while after is not None:
            page = self.call(field, f"/v1/{field}?" + urlencode({**filters, "after": after, "limit": PAGE_SIZE}))
            yield from page[field]
            after = page["next"]

    def follow(self, field: str, path: str, after: str) -> Iterator[Answer]:
        while True:
            items = self.call(field, f"{path}?" + urlencode({"after": after, "limit": PAGE_SIZE}))[field]
            if not items:
                return
            yield from items
            after = items[-1]["id"]

    def call(self, field: str, path: str, fields: Optional[Answer] = None, key: Optional[str] = None) -> Answer:
        """Sends a request until the service has answered with this field, or refused."""
        key, ends = key or str(uuid.uuid4()), time.monotonic() + self.patience_seconds
        if not (key.isascii() and key.isprintable()):
            raise ValueError("a key is printable ASCII")
        body = None if fields is None else encode_body(fields)
        attempt, is_clock_known = 0, False
        while True:
            status, answer, retry_after, clock_offset = self.send(path, body, key)
            if status == 200 and field in answer:
                return answer
            error = answer.get("error")
            code = error.get("code") if isinstance(error, dict) else None
            is_refused = code == "invalid_assertion" and not is_clock_known
            if is_refused and clock_offset is not None and abs(clock_offset - self.clock_offset) > 2:
                # Once: with the time of the service the assertion is right, or something else is wrong.
                self.clock_offset, is_clock_known = clock_offset, True
                continue
            is_for_now = retry_after > 0 or status in (408, 429, 500, 502, 503, 504)
            if isinstance(code, str) and code and (code == "not_configured" or not is_for_now):
                raise Refused(status, answer)
            seconds = max(retry_after, min(2**attempt / 4, MAX_BACKOFF_SECONDS)) * random.uniform(1, 1.2)
            if time.monotonic() + seconds > ends:
                raise Outage(f"no answer: {status} {code or ''}; try again in {seconds:.0f} seconds or later", key)
            time.sleep(seconds)
            attempt = min(attempt + 1, 10)

    def send(self, path: str, body: Optional[bytes], key: str) -> Reply:
        """Sends a request once."""
        request = urllib.request.Request(self.url + path, body, {"Authorization": "Bearer " + self.sign_assertion()})
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.add_header("Idempotency-Key", key)
        found: List[Reply] = []
        thread = threading.Thread(target=lambda: found.append(fetch(request)), daemon=True)
        thread.start()
        thread.join(TIMEOUT_SECONDS)  # urllib's own is for each read
        return found[0] if found else NOTHING

    def sign_assertion(self) -> str:
        """A JWT (RFC 7519) of a minute, which each attempt needs anew."""
        key, exp = self.private_key, int(time.time() + self.clock_offset) + ASSERTION_SECONDS
        claims = {"iss": self.backend, "aud": self.audience, "exp": exp}
        parts = [{"alg": "EdDSA" if isinstance(key, ed25519.Ed25519PrivateKey) else "ES256"}, claims]
        text = ".".join(encode(json.dumps(part).encode()) for part in parts)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            return f"{text}.{encode(key.sign(text.encode()))}"
        r, s = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(SHA256())))
        return f"{text}.{encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"  # RFC 7518 section 3.4


def fetch(request: urllib.request.Request) -> Reply:
    try:
        try:
            response = OPENER.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as refused:
            response = refused
        with response:
            answer = json.loads(response.read(MAX_BYTES), parse_float=Decimal)
            if 300 <= response.status < 400 or not isinstance(answer, dict):
                return NOTHING
            retry_after = (response.headers.get("Retry-After") or "")[:9]
            date = email.utils.parsedate_tz(response.headers.get("Date") or "")
            offset = email.utils.mktime_tz(date) - time.time() if date else None
            return response.status, answer, int(retry_after) if retry_after.isdecimal() else 0, offset
    except Exception:  # no network, a body cut short, no JSON
        return NOTHING


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def escape(id: str) -> str:
    return quote(id, safe="")


def encode_body(fields: Answer) -> bytes:
    """The same bytes for the same fields, in every version and language, because the same key demands them."""
    return json.dumps(fields, default=format_amount, ensure_ascii=False, separators=(",", ":")).encode()


def format_amount(value: object) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    raise TypeError(f"{type(value).__name__} is no JSON")


def given(**fields: Any) -> Answer:
    return {name: value for name, value in fields.items() if value is not None}

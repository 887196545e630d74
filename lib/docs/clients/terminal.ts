/** A program in a terminal that its owner approves with a code. `tests/lib/docs/connect-samples.test.ts` runs it. */
export const terminalProgram = `
import json, os, threading, time, urllib.error, urllib.parse, urllib.request

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


class Connection:
    """Keeps and renews the session token of a program that its owner has approved."""

    def __init__(self, url, client_id, vault):
        """vault stores one refresh token where the system stores passwords: read(), "" if there is none, and write(token)."""
        self.url, self.client_id, self.vault = url, client_id, vault
        self.token, self.renew_at, self.turn = "", 0.0, threading.Lock()

    def read_token(self, now=None):
        """Returns the session token, or "" if the owner has to approve first. Raises OSError during an outage."""
        now = time.time() if now is None else now
        with self.turn:  # one at a time, so that the newest refresh token is the one that is kept
            if now < self.renew_at:
                return self.token
            refresh_token = self.vault.read()
            if refresh_token == "":
                return ""
            status, answer = self.post("/oauth/token", grant_type="refresh_token", refresh_token=refresh_token)
            if answer.get("error") == "invalid_grant":
                self.vault.write("")  # ended by the owner or the operator, or after its week
                self.token = ""
                return ""
            if status != 200:
                raise OSError(f"no token now: {status}")
            return self.keep(answer, now)

    def connect(self, show, pause=time.sleep):
        """Asks for approval, which the owner gives on any device. Raises PermissionError if they do not."""
        status, asked = self.post("/oauth/device", scope="account:read")
        if status != 200:
            raise OSError(f"no code now: {status}")
        show(asked["user_code"], asked["verification_uri"], asked["verification_uri_complete"])
        wait, ends = asked.get("interval", 5), time.time() + asked["expires_in"]
        while time.time() < ends:
            pause(wait)
            try:
                status, answer = self.post("/oauth/token", grant_type=DEVICE_GRANT, device_code=asked["device_code"])
            except OSError:
                continue  # no network: the code is still valid
            if status == 200:
                return self.keep(answer, time.time())
            if answer.get("error") in ("access_denied", "expired_token", "invalid_grant"):
                raise PermissionError(answer.get("error_description", answer["error"]))
            if answer.get("error") != "authorization_pending":
                wait += 5  # slow_down, a 429 or a 503
        raise PermissionError("the owner did not answer")

    def keep(self, answer, now):
        self.vault.write(answer["refresh_token"])
        self.token, self.renew_at = answer["access_token"], now + answer["expires_in"] - 60
        return self.token

    def post(self, path, **fields):
        body = urllib.parse.urlencode({"client_id": self.client_id, **fields}).encode()
        try:
            response = urllib.request.urlopen(self.url + path, body, timeout=10)
        except urllib.error.HTTPError as refused:
            response = refused
        with response:
            try:
                return response.status, json.load(response)
            except ValueError:
                raise OSError("no JSON: the response is not from the service") from None


class MemoryVault:
    """This vault is only in memory. In your program, use the system's, for example with the package keyring."""

    kept = ""

    def read(self):
        return self.kept

    def write(self, refresh_token):
        self.kept = refresh_token


if __name__ == "__main__":
    connection = Connection(os.environ["CORNER_OFFICE_URL"], "native", MemoryVault())
    if connection.read_token() == "":
        connection.connect(lambda code, where, link: print(f"Open {where} and enter {code}, or open {link}", flush=True))
    request = urllib.request.Request(connection.url + "/api/entitlement")
    request.add_header("Authorization", "Bearer " + connection.read_token())
    with urllib.request.urlopen(request, timeout=10) as response:
        print(response.read().decode())
`;

import os, random, time, urllib.error, urllib.request

class NoRedirects(urllib.request.HTTPRedirectHandler):
    redirect_request = lambda *_: None  # no other host gets what is sent here

def call_with_retries(request):
    """Retries a 429, 502 or 503 up to four times, after Retry-After plus a random delay."""
    for attempt in range(5):
        try:
            return urllib.request.build_opener(NoRedirects).open(request, timeout=10)
        except urllib.error.HTTPError as failure:
            if failure.code not in (429, 502, 503) or attempt == 4:
                raise
            asked = failure.headers.get("Retry-After", "")[:9]
            asked_seconds = int(asked) if asked.isdecimal() else 0  # a date counts as none
            wait_seconds = min(max(asked_seconds, 2**attempt), 3600)
            time.sleep(wait_seconds + random.uniform(0, 1 + wait_seconds / 10))

with call_with_retries(os.environ["CORNER_OFFICE_URL"] + "/api/health") as response:
    print(response.status, response.headers["RateLimit"])

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from standardwebhooks.webhooks import Webhook  # pip install standardwebhooks

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
done = set()  # keep it in your store


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event = webhook.verify(body, headers)
        except Exception:
            self.send_response(401)
        else:
            if headers["webhook-id"] not in done:
                print(event["type"], event["data"]["account"], flush=True)
            done.add(headers["webhook-id"])
            self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? "");
const done = new Set(); // keep it in your store

createServer(async (request, response) => {
  const body = await text(request); // the bytes as they came: they are signed
  let event = Object(); // of any type
  try {
    event = webhook.verify(body, Object(request.headers));
  } catch {
    return response.writeHead(401).end();
  }
  const id = request.headers["webhook-id"];
  if (!done.has(id)) console.log(event.type, event.data.account);
  done.add(id);
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 8080), "127.0.0.1");

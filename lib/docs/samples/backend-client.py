import os
from corner_office_backend import Outage, Refused

account = next(api.accounts(email="licensed@example.com"))

# Holds for a block. What it has used is spent, also if it raises; the rest goes back.
with api.holding(account["id"], "1", "A film", expires_in_seconds=600) as hold:
    hold["used"] = "0.4"

# A key that you can make again finds the first answer, also after your program has ended.
try:
    api.spend(account["id"], "0.125", "A page", reference="job 7", key="job 7")
except Refused as refused:  # nothing was spent
    print(refused.code, refused.answer.get("balance"))
except Outage as outage:
    print("not known yet: call again later with", outage.key)

# The spends of a minute in one request. Each has its own result: an entry, or an error.
spends = [{"account": account["id"], "credits": "0.5", "reason": reason} for reason in ("A", "B")]
for result in api.spend_each(spends):
    print(result["error"]["code"] if "error" in result else result["id"])

# What came since the last entry that you have seen.
last = ""
for entry in api.entries(account["id"], after=last):
    last = entry["id"]

# What each plan allows; no such name, and None, is no limit. An account and a check have the same fields.
for plan in api.plans():
    limit = plan["limits"].get("projects")
    print(plan["name"], "without a limit" if limit is None else limit)

# Whether the owner of a session token may run, and a spend in the same step if they may.
checked = api.check(os.environ.get("CORNER_OFFICE_TOKEN", ""), spend={"credits": "0.1", "reason": "A page"})
print(checked["entry"]["balance"] if checked["ok"] else checked["message"])

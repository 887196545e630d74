import os
from corner_office import CompanyGate

gate = CompanyGate(os.environ["CORNER_OFFICE_URL"], lambda dead_token: os.environ["CORNER_OFFICE_TOKEN"])
ask_again_in_seconds = gate.ask()
print({"may_run": gate.may_run(), "why": gate.why, "ask_again_in_seconds": ask_again_in_seconds})

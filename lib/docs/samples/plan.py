import os
from corner_office import CompanyGate

gate = CompanyGate(os.environ["CORNER_OFFICE_URL"], lambda dead_token: os.environ["CORNER_OFFICE_TOKEN"])
gate.ask()  # an app has keep_asking do it

projects = ["Spring", "Summer"]
if gate.has("voice"):
    print("show the button for voice")
if len(projects) < gate.limit("projects"):
    print("one more project is possible")

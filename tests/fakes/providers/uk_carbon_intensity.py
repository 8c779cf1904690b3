from wire import json_reply
NAME = "uk_carbon_intensity"
SETTINGS = {}
def error(status, text): return json_reply(status, {"error": text})
def answer(request, world): return error(501, "not there yet")

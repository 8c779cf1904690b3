from wire import json_reply
NAME = "entsoe"
SETTINGS = {}
def error(status, text): return json_reply(status, {"error": text})
def answer(request, world): return error(501, "not there yet")

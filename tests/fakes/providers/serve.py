#!/usr/bin/env python3
"""Fake servers of the providers of carbon intensities, on the loopback. See README.md.

The first line of the output is the port that serves all of them below /NAME/..., the second a JSON
object with a port of its own for each, which serves it as the real one does; with --tls the third is
a port without TLS, for control. They end when the standard input (a pipe) closes, or when the parent
ends.
"""

import argparse
import gzip
import hashlib
import http.server
import json
import os
import re
import socket
import ssl
import stat
import sys
import threading
import time
import traceback

import carbon_aware_sdk
import eia
import electricity_maps
import energy_charts
import entsoe
import faults
import uk_carbon_intensity
import watttime
from wire import Refused, Reply, Request, http_date, json_reply, parse_iso
from world import World

PROVIDERS = {
    module.NAME: module
    for module in (
        electricity_maps,
        watttime,
        uk_carbon_intensity,
        energy_charts,
        entsoe,
        eia,
        carbon_aware_sdk,
    )
}
MOST_BODY = 1 << 20
HTML = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in.</body></html>"
NGINX_403 = (
    "<html>\r\n<head><title>403 Forbidden</title></head>\r\n<body>\r\n"
    "<center><h1>403 Forbidden</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


class Listener:
    """One port; it can be taken off the network and put back."""

    def __init__(self, servers, provider, port, tls):
        self.servers = servers
        self.provider = provider  # None: all, below their names
        self.port = port
        self.tls = tls
        self.http = None
        self.plug()

    def plug(self):
        if self.http is not None:
            return
        listener = self

        class Bound(Handler):
            servers = self.servers
            provider = self.provider

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def __init__(self):
                super().__init__(("127.0.0.1", listener.port), Bound)
                self.connections = set()

            def get_request(self):
                connection, address = super().get_request()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if listener.tls:
                    connection = listener.tls.wrap_socket(
                        connection, server_side=True, do_handshake_on_connect=False
                    )
                self.connections.add(connection)
                return connection, address

            def shutdown_request(self, request):
                self.connections.discard(request)
                super().shutdown_request(request)

            def handle_error(self, request, client_address):
                pass  # a client that goes away or refuses the certificate is what is being tested

        self.http = Server()
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def unplug(self):
        if self.http is None:
            return
        self.http.shutdown()
        self.http.server_close()
        for connection in list(self.http.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.http = None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    servers = None
    provider = None

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.serve()

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

    def serve(self):
        length = self.headers.get("Content-Length", "0")
        if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > MOST_BODY:
            self.close_connection = True
            return self.deliver(Reply(413, headers=[("Connection", "close")]), [], 0)
        body = self.rfile.read(int(length))
        if self.path.startswith("/_"):
            return self.deliver(self.servers.control(self.command, self.path, body), [], time.time())
        provider, target = self.provider, self.path
        if provider is None:
            name, slash, rest = self.path[1:].partition("/")
            if name not in PROVIDERS:
                return self.deliver(json_reply(404, {"error": "no such provider"}), [], time.time())
            if self.servers.own[name].http is None:
                return self.drop()
            provider, target = name, slash + rest
        request = Request(provider, self.command, target, self.headers.items(), body)
        world = self.servers.world
        request.faults = world.take_faults(request)
        reply = self.servers.answer(request)
        with world.lock:
            world.requests.append(
                {
                    "provider": provider,
                    "method": request.method,
                    "path": request.path,
                    "query": request.query,
                    "headers": request.headers,
                    "body": body.decode("utf-8", "replace"),
                    "status": reply.status,
                    "faults": [fault["kind"] for fault in request.faults],
                    "connection": self.client_address[1],
                }
            )
        self.deliver(reply, request.faults, world.now())

    def deliver(self, reply, wrongs, now):
        wrong = {fault["kind"]: fault for fault in wrongs}
        if "slow" in wrong:
            time.sleep(wrong["slow"]["delay_s"])
        if "hang_up" in wrong:
            return self.drop()
        body, headers = reply.body, list(reply.headers)
        if "bom" in wrong:
            body = b"\xef\xbb\xbf" + body
        if "truncated_json" in wrong:
            body = body[: len(body) * 2 // 3]
        if "empty" in wrong:
            body = b""
        if "huge" in wrong:
            body += b" " * max(0, wrong["huge"]["bytes"] - len(body))
        if "gzip" in wrong or wrong.get("huge", {}).get("gzip"):
            body = gzip.compress(body, 6)
            headers.append(("Content-Encoding", "gzip"))
        server_now = now + wrong.get("clock_skew", {}).get("seconds", 0)
        headers += list(wrong.get("headers", {}).get("headers", {}).items())
        lines = ["HTTP/1.1 %d %s" % (reply.status, self.responses.get(reply.status, ("",))[0])]
        lines.append("Date: " + http_date(int(server_now)))
        if reply.status not in (204, 304):
            lines.append("Content-Type: " + reply.content_type)
        chunked = "chunked" in wrong
        if chunked:
            lines.append("Transfer-Encoding: chunked")
        elif reply.status not in (204, 304):
            lines.append("Content-Length: %d" % len(body))
        if "close" in wrong:
            lines.append("Connection: close")
            self.close_connection = True
        lines += ["%s: %s" % header for header in headers]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if self.command == "HEAD" or reply.status in (204, 304):
            body = b""
        if chunked:
            cuts = range(0, len(body), 7000)
            parts = [body[i : i + 7000] for i in cuts]
            body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
        if "cut_off" in wrong:
            body = body[: wrong["cut_off"].get("after_bytes", len(body) // 2)]
        try:
            self.send(head, body, wrong.get("slow", {}).get("bytes_per_s"))
        except OSError:
            return self.drop()
        if "cut_off" in wrong:
            self.drop()

    def send(self, head, body, bytes_per_s):
        if not bytes_per_s:
            self.connection.sendall(head + body)
            return
        self.connection.sendall(head)
        part = max(1, bytes_per_s // 20)
        for i in range(0, len(body), part):
            self.connection.sendall(body[i : i + part])
            time.sleep(part / bytes_per_s)

    def drop(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Servers:
    def __init__(self, port=0, now=None, tls=None):
        self.world = World(PROVIDERS, now)
        self.scenario = {}
        self.tls = tls
        self.main = Listener(self, None, port, tls)
        self.own = {name: Listener(self, name, 0, tls) for name in PROVIDERS}
        self.control_port = Listener(self, None, 0, None).port if tls else self.main.port

    def ports(self):
        return {name: listener.port for name, listener in self.own.items()}

    def answer(self, request):
        module = PROVIDERS[request.provider]
        wrong = {fault["kind"]: fault for fault in request.faults}
        try:
            reply = self.failure(request, module, wrong)
            if reply is None:
                reply = module.answer(request, self.world)
        except Refused as refused:
            reply = refused.reply
        except Exception:  # a mistake in a fake is an answer that no test takes for a refusal
            traceback.print_exc()
            return Reply(599, "the fake server failed; see its standard error", "text/plain")
        if "html" in wrong:
            reply = Reply(200, HTML, "text/html; charset=utf-8")
        if "error_in_200" in wrong:
            reply = module.error(200, "something is wrong")
        if "validators" in wrong and reply.status == 200:
            reply = self.validate(request, reply, wrong["validators"].get("by", "etag"))
        return reply

    def validate(self, request, reply, by):
        """`reply` with its ETag or Last-Modified, or 304 where the client has it already."""
        since = self.world.changed_at(request, reply.body)
        if by == "etag":
            header = ("ETag", '"%s"' % hashlib.sha256(reply.body).hexdigest()[:16])
            known = header[1] in request.headers.get("if-none-match", "")
        else:
            header = ("Last-Modified", http_date(since))
            known = request.headers.get("if-modified-since") == header[1]
        if known:
            return Reply(304, headers=[header])
        reply.headers.append(header)
        return reply

    def failure(self, request, module, wrong):
        if "status" in wrong:
            fault = wrong["status"]
            reply = module.error(fault["status"], "scripted")
            if "body" in fault:
                reply.body = fault["body"].encode()
            reply.content_type = fault.get("content_type", reply.content_type)
            reply.headers += list(fault.get("headers", {}).items())
            return reply
        if "rate_limit" in wrong:
            skew = wrong.get("clock_skew", {}).get("seconds", 0)
            reply = module.error(429, "Too many requests")
            reply.headers += faults.rate_limit_headers(
                wrong["rate_limit"], self.world.now() + skew
            )
            return reply
        if "bad_key" in wrong:
            return module.bad_key()
        if "not_in_plan" in wrong:
            return module.not_in_plan(request)
        if "html_403" in wrong:
            return Reply(403, NGINX_403, "text/html")
        if "suspended" in wrong:
            return eia.suspended()
        if "redirect" in wrong:
            fault = wrong["redirect"]
            location = fault.get("location", "/")
            if "to_provider" in fault:
                scheme = "https" if self.tls else "http"
                port = self.own[fault["to_provider"]].port
                location = "%s://127.0.0.1:%d%s" % (scheme, port, request.path)
            return Reply(fault.get("status", 302), headers=[("Location", location)])
        return None

    def control(self, method, path, body):
        path = path.partition("?")[0]
        if (method, path) == ("GET", "/_requests"):
            with self.world.lock:
                return json_reply(200, self.world.requests)
        if (method, path) == ("POST", "/_reset"):
            self.world.reset()
            for listener in self.own.values():
                listener.plug()
            self.do(self.scenario)
            return json_reply(200, {"ok": True})
        if (method, path) == ("POST", "/_control"):
            try:
                command = json.loads(body)
            except ValueError as error:
                return json_reply(400, {"error": str(error)})
            wrong = self.do(command)
            return json_reply(400 if wrong else 200, {"error": wrong} if wrong else {"ok": True})
        return json_reply(404, {"error": "GET /_requests, POST /_control, POST /_reset"})

    def do(self, command):
        """A control command, or a scenario file. Returns what is wrong with it, or None."""
        if not isinstance(command, dict):
            return "a control command is an object"
        plugs = {key: command.get(key, []) for key in ("unplug", "plug")}
        for names in plugs.values():
            if not isinstance(names, list) or not all(name in list(self.own) for name in names):
                return "plug, unplug: %r: not an array of %s" % (names, ", ".join(self.own))
        wrong = self.world.control({k: v for k, v in command.items() if k not in plugs})
        if wrong:
            return wrong
        for name in plugs["unplug"]:
            self.own[name].unplug()
        for name in plugs["plug"]:
            self.own[name].plug()
        return None


def end_with_standard_input():
    while os.read(0, 4096):
        pass
    os._exit(0)


def wait_for_the_end():
    """Returns when the standard input, if it is a pipe, has closed, or the parent has ended."""
    parent = os.getppid()
    mode = os.fstat(0).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        threading.Thread(target=end_with_standard_input, daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="of all; 0: any that is free")
    parser.add_argument("--scenario", help="a JSON file, done as a control command at the start")
    parser.add_argument("--now", help="the time of the servers, fixed; without it, the real one")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"), help="PEM files: speak TLS")
    options = parser.parse_args()
    now = None
    if options.now:
        now = parse_iso(options.now)
        if now is None:
            parser.error("--now: %r is no time with an offset" % options.now)
    tls = None
    if options.tls:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*options.tls)
    servers = Servers(options.port, now, tls)
    if options.scenario:
        with open(options.scenario, encoding="utf-8") as file:
            servers.scenario = json.load(file)
        wrong = servers.do(servers.scenario)
        if wrong:
            parser.error("--scenario: %s" % wrong)
    print(servers.main.port)
    print(json.dumps(servers.ports()))
    if tls:
        print(servers.control_port)
    sys.stdout.flush()
    wait_for_the_end()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)

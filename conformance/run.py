#!/usr/bin/env python3
"""Measures a reader of the STAC authentication extension with the cases beside this file.

    python3 run.py [--kind authorize|lint] [--only ID] [--skip-network] [--codes] [--json] -- PROGRAM [ARGUMENT ...]

PROGRAM reads one case per line as JSON from its standard input and writes one answer per line to its standard output.
README.md describes cases and answers. Only the standard library is needed. Exit code: 0 all passed, 1 some failed, 2 usage.
"""
import argparse
import base64
import datetime
import hashlib
import hmac
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
# What the program must not see: the expectations.
HIDDEN = ("expect", "title", "source", "severity", "pointer", "rule", "bad", "good")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].strip())
    parser.add_argument("--kind", choices=["authorize", "lint"], action="append", help="only the cases of this kind (repeatable)")
    parser.add_argument("--only", action="append", metavar="ID", help="only this case, by its id or that of a failure (repeatable)")
    parser.add_argument("--skip-network", action="store_true", help="leave out the cases in which other servers are asked")
    parser.add_argument("--codes", action="store_true", help="also compare the codes of refusals and findings")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()

    questions = [q for kind in options.kind or ["authorize", "lint"] for q in questions_of(kind, options.codes)]
    named = set(options.only or [])
    unknown = named - {name for q in questions for name in (q["id"], q["case"]["id"])}
    if unknown:
        parser.error(f"no case has the id {', '.join(sorted(unknown))}")
    left_out = [q for q in questions if options.skip_network and q["case"].get("network")]
    chosen = [q for q in questions if q not in left_out and (not named or q["id"] in named or q["case"]["id"] in named)]
    if not chosen:
        parser.error("no case is chosen")
    try:
        answers = ask(options.program, [q["line"] for q in chosen])
    except OSError as error:
        parser.error(f"{options.program[0]} cannot be started: {error.strerror}")
    except subprocess.TimeoutExpired as error:
        parser.error(f"{options.program[0]} did not end within {error.timeout} s: it must end when its standard input does")
    failures = []
    for question, answer in zip(chosen, answers):
        try:
            fault = judge(question, answer, options.codes)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            fault = f"the answer does not have the form that README.md describes: {error}"
        if fault:
            failures.append({"id": question["id"], "title": question["case"]["title"], "fault": fault})
    report = {"run": len(chosen), "passed": len(chosen) - len(failures), "leftOut": len(left_out), "failures": failures}
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        for failure in failures:
            print(f"FAILED {failure['id']}: {failure['title']}\n       {failure['fault']}")
        print(f"{report['passed']} of {report['run']} passed" + (f", {len(left_out)} left out" if left_out else ""))
    return 1 if failures else 0


def questions_of(kind, codes):
    """One question per case of `authorize`, two per case of `lint`: the bad document and the good one."""
    kit = json.loads((HERE / f"{kind}.json").read_text("utf-8"))
    if kit["version"] != 1:
        sys.exit(f"{kind}.json has version {kit['version']}, this runner reads version 1")
    for case in kit["cases"]:
        asked = {"kind": kind, **{name: value for name, value in case.items() if name not in HIDDEN}}
        if kind == "authorize":
            yield {"id": case["id"], "kind": kind, "case": case, "line": asked}
        else:
            for side in ("bad", "good") if codes or not case.get("goodByCodeOnly") else ("bad",):
                identifier = f"{case['id']}/{side}"
                yield {"id": identifier, "kind": kind, "side": side, "case": case, "line": {"kind": kind, "id": identifier, "text": case[side]}}


def ask(program, lines):
    """The answers of one run of the program, in order; None where there is none."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(program, input=text.encode("utf-8"), stdout=subprocess.PIPE, timeout=600, check=False)
    if done.returncode != 0:
        print(f"{program[0]} ended with exit code {done.returncode}", file=sys.stderr)
    answers = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        try:
            answer = json.loads(line)
            answers[answer["id"]] = answer
        except (ValueError, KeyError, TypeError):
            print(f"not an answer: {line[:200]}", file=sys.stderr)
    return [answers.get(line["id"]) for line in lines]


def judge(question, answer, codes):
    """What is wrong with the answer, in one sentence; None when nothing is."""
    if answer is None:
        return "no answer"
    if question["kind"] == "lint":
        return judge_findings(question["case"], question["side"], answer, codes)
    case, expected = question["case"], question["case"]["expect"]
    if answer.get("request") is not None and answer.get("refused") is not None:
        return "the answer has a request and a refusal, expected one of them"
    secrets = secrets_of(case["credentials"])
    # A secret may only be in what is expected, wherever the answer says that something was sent.
    wanted = [exchange["request"] for exchange in case.get("network", [])]
    sent = answer.get("sent", [])
    if len(sent) != len(wanted):
        return f"{len(sent)} requests were sent to other servers, expected {len(wanted)}"
    for got, want in zip(sent, wanted):
        fault = differs(got, want, case, secrets)
        if fault:
            return f"request to {want['url']}: {fault}"
    if "refused" in expected:
        if answer.get("refused") is None:
            return f"a request was made, expected a refusal ({expected['refused']})"
        if codes and answer["refused"] != expected["refused"]:
            return f"refused with {answer['refused']}, expected {expected['refused']}"
        return None
    if answer.get("request") is None:
        return f"refused ({answer.get('refused')}), expected a request"
    if answer.get("credential") != expected["credential"]:
        return f"the credential is {answer.get('credential')}, expected {expected['credential']}"
    return differs(answer["request"], expected["request"], case, secrets)


def differs(got, want, case, secrets):
    headers = {}
    for name, value in got.get("headers", {}).items():
        if name.lower() in headers:
            return f"the field {name} is there twice"
        headers[name.lower()] = value
    if got.get("method") != want["method"]:
        return f"the method is {got.get('method')}, expected {want['method']}"
    if got.get("url") != want["url"]:
        return f"the URL is {got.get('url')}, expected {want['url']}"
    for name, value in want.get("headers", {}).items():
        if headers.get(name) != value:
            return f"the field {name} is {headers.get(name)!r}, expected {value!r}"
    if "form" in want and dict(urllib.parse.parse_qsl(got.get("body") or "", keep_blank_values=True)) != want["form"]:
        return f"the form is {got.get('body')!r}, expected {want['form']}"
    if "json" in want and json.loads(got.get("body") or "null") != want["json"]:
        return f"the body is {got.get('body')!r}, expected {want['json']}"
    if "form" not in want and "json" not in want and got.get("body"):
        return f"the body is {got['body']!r}, expected none"
    extra = [name for name, value in headers.items() if name not in want.get("headers", {}) and has_secret(value, secrets)]
    if extra:
        return f"the field {extra[0]} contains a secret"
    return signature_fault(got["url"], got["method"], headers, case["credentials"][0]) if want.get("signature") else None


def has_secret(value, secrets):
    """Whether a field contains a secret, as it is or in Base64 (RFC 7617)."""
    texts = [value]
    for word in re.findall(r"[A-Za-z0-9+/_-]{4,}", value):
        plain = word.replace("-", "+").replace("_", "/")
        texts.append(base64.b64decode(plain + "=" * (-len(plain) % 4) if len(plain) % 4 != 1 else plain[:-1]).decode("utf-8", "replace"))
    return any(secret in text for secret in secrets for text in texts)


def secrets_of(credentials):
    names = ("token", "password", "value", "clientSecret", "secretAccessKey")
    return [credential[name] for credential in credentials for name in names if isinstance(credential.get(name), str)]


def judge_findings(case, side, answer, codes):
    findings = answer.get("findings")
    if not isinstance(findings, list):
        return "the answer has no findings"
    here = [f for f in findings if (f.get("code") == case["id"] if codes else f.get("pointer") == case["pointer"])]
    if side == "bad":
        return None if any(f.get("pointer") == case["pointer"] for f in here) else f"nothing was found at {case['pointer'] or 'the root'!r}"
    return f"{here[0].get('code')} was found in the good document" if here else None


def signature_fault(url, method, headers, credential):
    """Computes Signature Version 4 from the request as it is, with the user's key (AWS, Create a signed request)."""
    try:
        kind, rest = headers["authorization"].split(" ", 1)
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        key_id, date, region, service, end = parts["Credential"].split("/")
        names = parts["SignedHeaders"].split(";")
        stamp = datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")
    except (KeyError, ValueError):
        return f"the field authorization is not a signature: {headers.get('authorization')!r}"
    if kind != "AWS4-HMAC-SHA256" or key_id != credential["accessKeyId"] or end != "aws4_request" or stamp.strftime("%Y%m%d") != date:
        return "the scope of the signature is not that of the key and the date"
    if (region, service) != (credential["region"], "s3"):
        return f"the scope of the signature is {region}/{service}, expected {credential['region']}/s3"
    if "host" not in names:
        return "the field host is not signed"
    split = urllib.parse.urlsplit(url)
    fields = {**headers, "host": split.netloc}
    query = "&".join(sorted(split.query.split("&"))) if split.query else ""
    canonical = [method, split.path or "/", query, *(f"{name}:{fields.get(name, '').strip()}" for name in names), "", ";".join(names)]
    canonical.append(headers.get("x-amz-content-sha256", hashlib.sha256(b"").hexdigest()))
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    text = "\n".join([kind, headers["x-amz-date"], f"{date}/{region}/{service}/{end}", digest])
    key = ("AWS4" + credential["secretAccessKey"]).encode()
    for part in (date, region, service, end):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return None if hmac.compare_digest(expected, parts["Signature"]) else "the signature is wrong"


if __name__ == "__main__":
    sys.exit(main())

"""Makes the directories later/NAME: what a client keeps of the session whose reports are in CLIENT-documented. The
forms are those of internal/agent/clientfile/testdata/make.py, and the texts are those of the reports."""

import datetime
import json
import os
import sqlite3

DAY = int(datetime.datetime(2026, 11, 23, 1, 30, tzinfo=datetime.timezone.utc).timestamp() * 1000)
CURSOR = "9f1c2d3e-0000-4000-8000-000000000001"


def path(*parts):
    p = os.path.join("later", *parts)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    if os.path.exists(p):
        os.remove(p)
    return p


def write(name, value):
    with open(path(name), "w") as f:
        json.dump(value, f)


def lines(name, *values):
    with open(path(name), "w") as f:
        f.write("".join(json.dumps(v) + "\n" for v in values))


def database(name, script, rows):
    c = sqlite3.connect(path(name))
    c.executescript("PRAGMA page_size = 512;" + script)
    for table, values in rows:
        c.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)
    c.commit()
    c.close()


# Cursor's editor: bubbles without a time, other names of tools, and other IDs of two calls.
bubbles = [
    {"type": 1, "bubbleId": "b1", "text": "Raise the jetty by a metre."},
    {"type": 2, "bubbleId": "b2", "toolFormerData": {
        "toolCallId": "toolu_1", "name": "edit_file_v2", "status": "completed",
        "params": json.dumps({"relativeWorkspacePath": "jetty.go"}), "result": "{}"}},
    {"type": 2, "bubbleId": "b3", "toolFormerData": {
        "toolCallId": "toolu_2", "name": "run_terminal_command_v2", "status": "completed",
        "params": json.dumps({"command": "go test ./..."}), "result": json.dumps({"output": "FAIL", "exitCode": 1})}},
    {"type": 2, "bubbleId": "b4", "toolFormerData": {
        "toolCallId": "tool-3", "name": "read_file_v2", "status": "error",
        "params": json.dumps({"targetFile": "/home/dev/harbor/tide.go"}), "result": "{}"}},
    {"type": 2, "bubbleId": "b5", "text": "The jetty is higher."},
    {"type": 2, "bubbleId": "b6", "text": "A test still fails."}]
composer = {"composerId": CURSOR, "createdAt": DAY - 3600000, "lastUpdatedAt": DAY + 3600000,
            "fullConversationHeadersOnly": [{"bubbleId": b["bubbleId"], "type": b["type"]} for b in bubbles]}
database("cursor-editor/.config/Cursor/User/globalStorage/state.vscdb",
         "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
         "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
         [("cursorDiskKV", ("composerData:" + CURSOR, json.dumps(composer).encode()))] +
         [("cursorDiskKV", (f"bubbleId:{CURSOR}:{b['bubbleId']}", json.dumps(b).encode())) for b in bubbles])

# Cursor's command line: no times, no IDs, no results.
transcripts = f"cursor-cli/.cursor/projects/home-dev-harbor/agent-transcripts/{CURSOR}/"
lines(transcripts + CURSOR + ".jsonl",
      {"role": "user", "message": {"content": [{"type": "text", "text":
          "<user_query>\nRaise the jetty by a metre.\n</user_query>"}]}},
      {"role": "assistant", "message": {"content": [
          {"type": "tool_use", "name": "Write", "input": {"path": "/home/dev/harbor/jetty.go", "contents": "x"}},
          {"type": "tool_use", "name": "Shell", "input": {"command": "go test ./..."}},
          {"type": "tool_use", "name": "Read", "input": {"path": "/home/dev/harbor/tide.go"}}]}},
      {"role": "assistant", "message": {"content": [
          {"type": "text", "text": "The jetty is higher. A test still fails."}]}})
lines(transcripts + "subagents/sub-1.jsonl",
      {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nWho uses it?\n</user_query>"}]}},
      {"role": "assistant", "message": {"content": [{"type": "text", "text": "The jetty has three users."}]}})

# VS Code: a request with its calls, and the same request after the person stopped it.
request = {"requestId": "r1", "timestamp": "2026-02-09T10:30:01.000Z", "modelId": "copilot/gpt-5",
           "message": {"text": "Oil the crane."}, "response": [
               {"kind": "toolInvocationSerialized", "toolId": "copilot_createFile", "toolCallId": "tool-123"},
               {"value": "It is oiled."}]}
result = {"metadata": {"toolCallRounds": [{"toolCalls": [
    {"id": "tool-123", "name": "create_file",
     "arguments": json.dumps({"filePath": "/home/dev/harbor/crane.go", "content": "package harbor\n"})}]}]}}
for name, extra in (("vscode-whole", {"result": result}), ("vscode-stopped", {})):
    storage = name + "/.config/Code/User/workspaceStorage/w1/"
    write(storage + "workspace.json", {"folder": "file:///home/dev/harbor"})
    write(storage + "chatSessions/vs-1.json", {
        "version": 3, "sessionId": "vs-1", "creationDate": "2026-02-09T10:30:00.000Z", "requests": [request | extra]})

# Goose: the database with the IDs of the reports, and a file of an older version with other IDs.


def call(i, name, **arguments):
    return {"type": "toolRequest", "id": i, "toolCall": {"status": "success", "value": {
        "name": name, "arguments": arguments}}}


def answer(i, status, text):
    result = {"status": status, "error": text} if status == "error" else {
        "status": status, "value": [{"type": "text", "text": text}]}
    return {"type": "toolResponse", "id": i, "toolResult": result}


def goose(one, two, three):
    return [
        ("user", [{"type": "text", "text": "Mend the sluice."}]),
        ("assistant", [call(one, "developer__shell", command="go build ./...")]),
        ("user", [answer(one, "success", "")]),
        ("assistant", [call(two, "developer__edit", path="/home/dev/harbor/sluice.go", before="shut", after="open")]),
        ("user", [answer(two, "success", "done")]),
        ("assistant", [call(three, "developer__shell", command="go test ./...")]),
        ("user", [answer(three, "error", "exit 1")]),
        ("assistant", [{"type": "text", "text": "The sluice opens again."}])]


database("goose-database/.local/share/goose/sessions/sessions.db", """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', session_type TEXT NOT NULL DEFAULT 'user',
  working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
  session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER,
  metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);""",
         [("sessions", ("20260514_1", "Sluice", "user", "/home/dev/harbor", "2026-11-23 01:30:00"))] +
         [("messages", (None, f"msg{i}", "20260514_1", role, json.dumps(content), DAY // 1000 + 1 + i // 3, "", None,
                        None)) for i, (role, content) in enumerate(goose("call-1", "call-2", "call-3"))])
lines("goose-file/.local/share/goose/sessions/20260514_1.jsonl",
      {"working_dir": "/home/dev/harbor", "description": "Sluice", "message_count": 8},
      *({"role": role, "created": DAY // 1000 + 1 + i // 3, "content": content}
        for i, (role, content) in enumerate(goose("x1", "x2", "x3"))))

# Cline.
START = 1762425000000
write("cline-task/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1762425000000/ui_messages.json", [
    {"ts": START, "type": "say", "say": "task", "text": "Paint the pier."},
    {"ts": START + 2000, "type": "say", "say": "tool", "text": json.dumps({
        "tool": "newFileCreated", "path": "pier.go", "content": "package harbor\n"})},
    {"ts": START + 3500, "type": "ask", "ask": "command", "text": "go vet ./..."},
    {"ts": START + 4000, "type": "say", "say": "command_output", "text": "vet: undefined: Tide"},
    {"ts": START + 4900, "type": "say", "say": "completion_result", "text": "The pier is painted."}])

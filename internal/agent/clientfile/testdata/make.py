"""Writes the directory home: a small session of each client, in the form that its sources write and at the place
where they write it. The sources are named in the readers. The databases were made with SQLite 3.40.1."""
import json, os, shutil, sqlite3, subprocess

shutil.rmtree("home", ignore_errors=True)
MS = 1788188400000  # 2026-08-31T15:00:00Z


def path(*parts):
    p = os.path.join("home", *parts)
    os.makedirs(os.path.dirname(p), exist_ok=True)
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


# Cursor: an editor's session of bubbles, an older session with its messages inside, a deleted session, a
# transcript of the command line, and one whose session is also in the database.
bubbles = [
    {"_v": 3, "type": 1, "bubbleId": "b1", "text": "Raise the jetty.", "createdAt": "2026-08-31T15:00:00.000Z",
     "workspaceUris": ["file:///home/ada/harbor"]},
    {"_v": 3, "type": 2, "bubbleId": "b2", "text": "", "thinking": {"text": "It is low."}},
    {"_v": 3, "type": 2, "bubbleId": "b3", "text": "I look.", "modelInfo": {"modelName": "claude-opus-4-7"}},
    {"_v": 3, "type": 2, "bubbleId": "b4", "text": "", "capabilityType": 15, "toolFormerData": {
        "tool": 15, "toolCallId": "t1", "status": "completed", "name": "run_terminal_command_v2",
        "params": json.dumps({"command": "make jetty"}), "rawArgs": "",
        "result": json.dumps({"output": "no stones\n", "exitCode": 2, "rejected": False})}},
    {"_v": 3, "type": 2, "bubbleId": "b5", "text": "", "toolFormerData": {
        "tool": 38, "toolCallId": "t2", "status": "completed", "name": "edit_file_v2",
        "params": json.dumps({"relativeWorkspacePath": "/home/ada/harbor/jetty.go"}), "result": "{}"}},
    {"_v": 3, "type": 2, "bubbleId": "b6", "text": "It is raised."},
]
composer = {"_v": 16, "composerId": "c1", "name": "Jetty", "createdAt": MS, "modelConfig": {"modelName": "default"},
            "fullConversationHeadersOnly": [{"bubbleId": b["bubbleId"], "type": b["type"]} for b in bubbles]}
old = {"_v": 2, "composerId": "c2", "createdAt": MS, "conversation": [
    {"type": 1, "bubbleId": "o1", "text": "And oil it."}, {"type": 2, "bubbleId": "o2", "text": "Oiled."}]}
database(".config/Cursor/User/globalStorage/state.vscdb",
         "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
         "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
         [("cursorDiskKV", ("composerData:c1", json.dumps(composer).encode())),
          ("cursorDiskKV", ("composerData:c2", json.dumps(old).encode())),
          ("cursorDiskKV", ("composerData:c3", None))] +
         [("cursorDiskKV", ("bubbleId:c1:" + b["bubbleId"], json.dumps(b).encode())) for b in bubbles])
cursor_lines = [
    {"role": "user", "message": {"content": [{"type": "text", "text":
        "<timestamp>Monday</timestamp>\n<user_query>\nPaint the buoy.\n</user_query>"}]}},
    {"role": "assistant", "message": {"content": [
        {"type": "text", "text": "I paint it."},
        {"type": "tool_use", "name": "Write", "id": "w1", "input": {"path": "buoy.go", "contents": "red"}}]}}]
for session in ("c9", "c1"):
    lines(f".cursor/projects/home-ada-harbor/agent-transcripts/{session}/{session}.jsonl", *cursor_lines)

# VS Code: a session with the calls in the result, and a log of changes of a request that was stopped.
write(".config/Code/User/workspaceStorage/w1/workspace.json", {"folder": "file:///home/ada/harbor"})
write(".config/Code/User/workspaceStorage/w1/chatSessions/v1.json", {
    "version": 3, "sessionId": "v1", "creationDate": MS, "requests": [{
        "requestId": "r1", "timestamp": MS + 1000, "modelId": "copilot/gpt-5", "message": {"text": "Raise the jetty."},
        "response": [{"kind": "thinking", "value": "It is low."}, {"value": "I look. "}, {"value": "Here."},
                     {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "x1"},
                     {"value": "It is raised."}],
        "result": {"metadata": {"toolCallRounds": [{"response": "I look.", "toolCalls": [
            {"id": "x1", "name": "read_file", "arguments": json.dumps({"filePath": "/home/ada/harbor/jetty.go"})}]}],
            "toolCallResults": {"x1": {"$mid": 20, "content": [{"$mid": 21, "value": "package jetty"}]}}}}}]})
lines(".config/Code/User/workspaceStorage/w1/chatSessions/v2.jsonl",
      {"kind": 0, "v": {"version": 3, "sessionId": "v2", "creationDate": MS, "requests": []}},
      {"kind": 2, "k": ["requests"], "v": [{"requestId": "r2", "timestamp": MS, "message": {"text": "Oil it."},
                                            "response": []}]},
      {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Wrong"}]},
      {"kind": 2, "k": ["requests", 0, "response"], "i": 0, "v": [{"value": "I oil it."}, {
          "kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": "y1", "toolSpecificData": {
              "kind": "terminal", "commandLine": {"original": "oil"}, "terminalCommandState": {"exitCode": 0}}}]},
      {"kind": 1, "k": ["requests", 0, "modelId"], "v": "copilot/auto"},
      {"kind": 3, "k": ["requests", 0, "followups"]})

# Zed: a thread of the present version, compressed, and one of version 0.2.0.
thread = {"version": "0.3.0", "title": "Jetty", "updated_at": "2026-08-31T15:05:00Z",
          "model": {"provider": "anthropic", "model": "claude-sonnet-5"}, "messages": [
    {"User": {"id": "u1", "content": [{"Text": "Raise "}, {"Mention": {"uri": "file:///j", "content": "package jetty"}},
                                      {"Text": "the jetty."}]}},
    {"Agent": {"content": [{"Thinking": {"text": "It is low.", "signature": None}}, {"Text": "I look."},
                           {"ToolUse": {"id": "t1", "name": "terminal", "raw_input": "",
                                        "input": {"command": "make", "cd": "harbor"}, "is_input_complete": True}}],
               "tool_results": {"t1": {"tool_use_id": "t1", "tool_name": "terminal", "is_error": True,
                                       "content": [{"Text": "no stones"}], "output": None}}}},
    "Resume", {"Agent": {"content": [{"Text": "No stones."}], "tool_results": {}}}]}
old_thread = {"version": "0.2.0", "summary": "Oil", "updated_at": "2026-08-31T15:05:00Z", "messages": [
    {"id": 0, "role": "user", "segments": [{"type": "text", "text": "Oil it."}], "tool_uses": [], "tool_results": []},
    {"id": 1, "role": "assistant", "segments": [{"type": "text", "text": "Oiled."}], "tool_uses": [
        {"id": "z1", "name": "now", "input": {}}], "tool_results": [
        {"tool_use_id": "z1", "is_error": False, "content": {"Text": "noon"}, "output": None}]}]}
packed = subprocess.run(["zstd", "-q", "-c"], input=json.dumps(thread).encode(), capture_output=True, check=True).stdout
database(".local/share/zed/threads/threads.db",
         "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, "
         "data_type TEXT NOT NULL, data BLOB NOT NULL);"
         "ALTER TABLE threads ADD COLUMN parent_id TEXT; ALTER TABLE threads ADD COLUMN folder_paths TEXT;"
         "ALTER TABLE threads ADD COLUMN created_at TEXT;",
         [("threads", ("z-new", "Jetty", thread["updated_at"], "zstd", packed, None, "/home/ada/harbor",
                       "2026-08-31T15:00:00Z")),
          ("threads", ("z-old", "Oil", thread["updated_at"], "json", json.dumps(old_thread).encode(), None, None,
                       None))])

# Goose: a session of the database, and an older file.
goose = [
    ("user", [{"type": "text", "text": "Raise the jetty."}], None),
    ("user", [{"type": "text", "text": "<info>noon</info>"}], {"userVisible": False, "agentVisible": True}),
    ("assistant", [{"type": "thinking", "thinking": "It is low.", "signature": ""}, {"type": "text", "text": "I look."},
                   {"type": "toolRequest", "id": "t1", "toolCall": {"status": "success", "value": {
                       "name": "developer__shell", "arguments": {"command": "make jetty"}}}}], None),
    ("user", [{"type": "toolResponse", "id": "t1", "toolResult": {"status": "success", "value": {
        "content": [{"type": "text", "text": "stones laid"}], "isError": False}}}], None)]
database(".local/share/goose/sessions/sessions.db", """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', session_type TEXT NOT NULL DEFAULT 'user',
  working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
  session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER,
  metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);""",
         [("sessions", ("20260831_1", "Jetty", "user", "/home/ada/harbor", "2026-08-31 15:00:00")),
          ("sessions", ("20260831_2", "", "hidden", "/home/ada", "2026-08-31 15:00:00"))] +
         [("messages", (None, f"msg{i}", "20260831_1", role, json.dumps(content), MS // 1000 + i, "", None,
                        metadata and json.dumps(metadata))) for i, (role, content, metadata) in enumerate(goose)])
lines(".local/share/goose/sessions/20250801_101500.jsonl",
      {"working_dir": "/home/ada/harbor", "description": "Oil", "message_count": 2},
      {"role": "user", "created": MS // 1000, "content": [{"type": "text", "text": "Oil it."}]},
      {"role": "assistant", "created": MS // 1000 + 1, "content": [{"type": "text", "text": "Oiled."}]})

# Cline, Roo Code and Kilo Code; a task without ui_messages.json; and Cline's command line.
task = [
    {"ts": MS, "type": "say", "say": "task", "text": "Raise the jetty."},
    {"ts": MS + 1, "type": "say", "say": "api_req_started", "text": "{}", "modelInfo": {"modelId": "claude-sonnet-5"}},
    {"ts": MS + 2, "type": "say", "say": "reasoning", "text": "It is low.", "partial": False},
    {"ts": MS + 3, "type": "say", "say": "text", "text": "I look."},
    {"ts": MS + 4, "type": "ask", "ask": "tool", "text": json.dumps({"tool": "readFile", "path": "jetty.go"})},
    {"ts": MS + 5, "type": "ask", "ask": "command", "text": "make jettyREQ_APP"},
    {"ts": MS + 6, "type": "say", "say": "command_output", "text": "no stones"},
    {"ts": MS + 7, "type": "say", "say": "use_mcp_server", "text": json.dumps({
        "serverName": "quarry", "type": "use_mcp_tool", "toolName": "stones", "arguments": json.dumps({"n": 4})})},
    {"ts": MS + 8, "type": "say", "say": "mcp_server_response", "text": "four stones"},
    {"ts": MS + 9, "type": "ask", "ask": "followup", "text": json.dumps({"question": "Which stone?", "options": []})},
    {"ts": MS + 10, "type": "say", "say": "user_feedback", "text": "Granite."},
    {"ts": MS + 11, "type": "say", "say": "tool", "text": json.dumps({
        "tool": "newFileCreated", "path": "stone.go", "content": "package stone"})},
    {"ts": MS + 12, "type": "say", "say": "text", "text": "half a sent", "partial": True},
    {"ts": MS + 13, "type": "say", "say": "completion_result", "text": "It is raised."},
    {"ts": MS + 14, "type": "ask", "ask": "completion_result", "text": ""}]
roo = [dict(task[0], say="text")] + task[1:4] + [
    {"ts": MS + 4, "type": "say", "say": "condense_context", "contextCondense": {"summary": "It was low."}}]
api = [
    {"role": "user", "content": [{"type": "text", "text": "<task>\nOil it.\n</task>"}, {
        "type": "text", "text": "<environment_details>\n# Current Working Directory (/home/ada/harbor) Files\n"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "I oil it."}, {
        "type": "tool_use", "id": "a1", "name": "execute_command", "input": {"command": "oil"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a1", "content": "oiled", "is_error": False}]}]
storage = ".config/Code/User/globalStorage/"
write(storage + "saoudrizwan.claude-dev/tasks/1788188400000/ui_messages.json", task)
write(storage + "saoudrizwan.claude-dev/tasks/1788188400000/api_conversation_history.json", api)
write(storage + "saoudrizwan.claude-dev/tasks/1788188400001/api_conversation_history.json", api)
write(storage + "rooveterinaryinc.roo-cline/tasks/roo-1/ui_messages.json", roo)
write(storage + "rooveterinaryinc.roo-cline/tasks/roo-1/history_item.json", {"workspace": "/home/ada/harbor"})
write(storage + "kilocode.kilo-code/tasks/kilo-1/ui_messages.json", roo)
write(".cline/data/sessions/s1/s1.json", {"session_id": "s1", "cwd": "/home/ada/harbor", "model": "glm-5"})
write(".cline/data/sessions/s1/s1.messages.json", {"version": 1, "sessionId": "s1", "messages": [
    {"id": "m1", "role": "user", "ts": MS, "content": [{"type": "text", "text":
        "<user_input mode=\"act\">Paint the buoy.</user_input><mode_notice>act</mode_notice>"}]},
    {"id": "m2", "role": "assistant", "ts": MS + 1, "modelInfo": {"id": "glm-5"}, "content": [
        {"type": "thinking", "thinking": "Red."}, {"type": "text", "text": "I paint it."}]}]})

# opencode: a session of the database, in the form that its command export writes.
database(".local/share/opencode/opencode.db", """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
  title text NOT NULL, time_created integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);
CREATE INDEX message_session_idx ON message (session_id);
CREATE INDEX part_session_idx ON part (session_id);""", [
    ("session", ("ses_1", "p", None, "/home/ada/harbor", "Jetty", MS)),
    ("message", ("msg_1", "ses_1", MS, json.dumps({"role": "user", "time": {"created": MS}}))),
    ("message", ("msg_2", "ses_1", MS + 1, json.dumps({"role": "assistant", "modelID": "m",
                                                       "time": {"created": MS + 1}}))),
    ("part", ("prt_1", "msg_1", "ses_1", json.dumps({"type": "text", "text": "Raise the jetty."}))),
    ("part", ("prt_2", "msg_2", "ses_1", json.dumps({"type": "text", "text": "I look."}))),
    ("part", ("prt_3", "msg_2", "ses_1", json.dumps({
        "type": "tool", "tool": "bash", "callID": "t1", "state": {
            "status": "completed", "input": {"command": "make"}, "output": "no stones",
            "metadata": {"exit": 2}, "time": {"start": MS, "end": MS + 2}}})))])

# opencode 2: the tables of version 1 remain beside the new ones. The session ses_3 is in both.
V2 = """
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
  title text, time_created integer NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message (session_id, seq);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
  title text NOT NULL, time_created integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);"""


def row(n, session, kind, **data):
    return ("session_message", (f"msg_{n}", session, kind, n, MS + n, MS + n, json.dumps(data)))


database(".local/share/opencode/opencode-next.db", V2, [
    ("session_v2", ("ses_3", "p", None, "/home/ada/harbor", None, MS)),
    ("session_v2", ("ses_4", "p", "ses_3", "/home/ada/harbor", "Child", MS)),
    ("session", ("ses_3", "p", None, "/home/ada/old", "Old", MS)),
    ("session", ("ses_5", "p", None, "/home/ada/old", "Never migrated", MS)),
    ("message", ("msg_90", "ses_3", MS, json.dumps({"role": "user", "time": {"created": MS}}))),
    ("part", ("prt_90", "msg_90", "ses_3", json.dumps({"type": "text", "text": "A copy of version 1."}))),
    ("message", ("msg_91", "ses_5", MS, json.dumps({"role": "user", "time": {"created": MS}}))),
    ("part", ("prt_91", "msg_91", "ses_5", json.dumps({"type": "text", "text": "Build the pier."}))),
    row(12, "ses_3", "user", text="Paint it.", files=[], agents=[]),
    row(1, "ses_3", "user", text="Raise the jetty.", files=[{"name": "a.png", "uri": "file:///a.png"}], agents=["build"]),
    row(2, "ses_3", "synthetic", text="A text of the program."),
    row(3, "ses_3", "assistant", agent="build", model={"id": "m", "providerID": "p"}, content=[
        {"type": "reasoning", "text": "It is low."},
        {"type": "text", "text": "I look."},
        {"type": "tool", "id": "c1", "name": "bash", "state": {"status": "streaming", "input": "{"}},
        {"type": "tool", "id": "c2", "name": "bash", "time": {"created": MS, "completed": MS + 5}, "state": {
            "status": "completed", "input": {"command": "make"}, "metadata": {"exit": 2},
            "content": [{"type": "text", "text": "no stones"}]}},
        {"type": "tool", "id": "c3", "name": "edit", "state": {
            "status": "error", "input": {"filePath": "/home/ada/harbor/a.go"}, "error": {"message": "not found"}}},
        {"type": "text", "text": "No stones."}]),
    row(4, "ses_3", "shell", shellID="sh_1", command="git status", status="completed", exit=0, output="clean"),
    row(5, "ses_3", "compaction", status="completed", summary="The jetty is low."),
    row(6, "ses_3", "idle", outcome="succeeded"),
    row(7, "ses_4", "user", text="Count the stones."),
])

# pi and OpenClaw.
pi = [
    {"type": "session", "version": 3, "id": "pi-1", "timestamp": "2026-08-31T15:00:00.000Z", "cwd": "/home/ada/harbor"},
    {"type": "model_change", "id": "e0", "parentId": None, "timestamp": "2026-08-31T15:00:00.000Z", "provider": "x",
     "modelId": "claude-sonnet-5"},
    {"type": "message", "id": "e1", "parentId": "e0", "timestamp": "2026-08-31T15:00:01.000Z",
     "message": {"role": "user", "content": [{"type": "text", "text": "Raise the jetty."}], "timestamp": MS}},
    {"type": "message", "id": "e2", "parentId": "e1", "timestamp": "2026-08-31T15:00:02.000Z", "message": {
        "role": "assistant", "model": "claude-sonnet-5", "content": [
            {"type": "thinking", "thinking": "It is low."}, {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "make"}}]}},
    {"type": "message", "id": "e3", "parentId": "e2", "timestamp": "2026-08-31T15:00:03.000Z", "message": {
        "role": "toolResult", "toolCallId": "t1", "toolName": "bash", "isError": True,
        "content": [{"type": "text", "text": "no stones"}]}},
    {"type": "message", "id": "e4", "parentId": "e3", "timestamp": "2026-08-31T15:00:04.000Z", "message": {
        "role": "bashExecution", "command": "ls", "output": "jetty.go", "exitCode": 0}},
    {"type": "custom_message", "id": "e5", "parentId": "e4", "timestamp": "2026-08-31T15:00:05.000Z",
     "customType": "x", "content": "by an extension"},
    {"type": "compaction", "id": "e6", "parentId": "e5", "timestamp": "2026-08-31T15:00:06.000Z",
     "summary": "It was low.", "firstKeptEntryId": "e1", "tokensBefore": 10}]
lines(".pi/agent/sessions/--home-ada-harbor--/2026-08-31T15-00-00-000Z_pi-1.jsonl", *pi)
lines(".openclaw/agents/main/sessions/claw-1.jsonl", dict(pi[0], id="claw-1"), *pi[1:5])

# Amp.
write(".local/share/amp/threads/T-1.json", {
    "v": 3, "id": "T-1", "created": MS, "env": {"initial": {"trees": [{"displayName": "harbor",
                                                                       "uri": "file:///home/ada/harbor"}]}},
    "messages": [
        {"role": "user", "messageId": 0, "content": [{"type": "text", "text": "Raise the jetty."}],
         "meta": {"sentAt": MS + 1000}},
        {"role": "assistant", "messageId": 1, "usage": {"model": "claude-opus-5", "timestamp": "2026-08-31T15:00:02Z"},
         "content": [{"type": "thinking", "thinking": "It is low."}, {"type": "text", "text": "I look."},
                     {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"cmd": "make"}}]},
        {"role": "user", "messageId": 2, "content": [{"type": "tool_result", "toolUseID": "t1", "run": {
            "status": "done", "result": {"output": "no stones", "exitCode": 2}}}]}]})

# Crush.
crush = [
    ("k1", "s1", "user", [{"type": "text", "data": {"text": "Raise the jetty."}},
                          {"type": "finish", "data": {"reason": "stop", "time": 1}}]),
    ("k2", "s1", "assistant", [{"type": "reasoning", "data": {"thinking": "It is low."}},
                               {"type": "text", "data": {"text": "I look."}},
                               {"type": "tool_call", "data": {"id": "t1", "name": "bash",
                                                              "input": json.dumps({"command": "make"})}}]),
    ("k3", "s1", "tool", [{"type": "tool_result", "data": {"tool_call_id": "t1", "name": "bash",
                                                           "content": "no stones", "is_error": True}}]),
    ("k4", "s1", "user", [{"type": "shell_command", "data": {"command": "ls", "output": "jetty.go", "exit_code": 0}}]),
    ("k5", "s1", "user", [{"type": "text", "data": {"text": "Go on.", "hidden": True}}])]
database("harbor/.crush/crush.db", """
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
  updated_at INTEGER NOT NULL, -- Unix timestamp in milliseconds
  created_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
  parts TEXT NOT NULL default '[]', model TEXT, created_at INTEGER NOT NULL, is_summary_message INTEGER DEFAULT 0);
CREATE INDEX IF NOT EXISTS idx_messages_session_id ON messages (session_id);""",
         [("sessions", ("s1", None, "Jetty", MS, MS))] +
         [("messages", (i, s, role, json.dumps(parts), "claude-sonnet-5", MS // 1000 + n, 0))
          for n, (i, s, role, parts) in enumerate(crush)])

# Hermes: a session of the database and an older file.
hermes = [
    {"role": "user", "content": "Raise the jetty.", "timestamp": MS / 1000},
    {"role": "assistant", "content": "I look.", "reasoning": "It is low.", "timestamp": MS / 1000 + 1, "tool_calls": [
        {"id": "t1", "type": "function", "function": {"name": "terminal", "arguments": json.dumps({"command": "make"})}}]},
    {"role": "tool", "content": "no stones", "tool_call_id": "t1", "timestamp": MS / 1000 + 2}]
database(".hermes/state.db", """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, started_at REAL NOT NULL);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
  content TEXT, tool_call_id TEXT, tool_calls TEXT, timestamp REAL NOT NULL, reasoning TEXT);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);""",
         [("sessions", ("20260831_150000_a", "cli", "hermes-5", MS / 1000))] +
         [("messages", (None, "20260831_150000_a", m["role"], m["content"], m.get("tool_call_id"),
                        json.dumps(m["tool_calls"]) if "tool_calls" in m else None, m["timestamp"],
                        m.get("reasoning"))) for m in hermes])
lines(".hermes/sessions/20260403_153620_b.jsonl",
      {"role": "session_meta", "model": "hermes-4", "platform": "cli", "timestamp": "2026-04-03T15:36:20"},
      {"role": "user", "content": "Oil it.", "timestamp": "2026-04-03T15:36:21"},
      {"role": "user", "content": "[CONTEXT COMPACTION] It was dry.", "timestamp": "2026-04-03T15:36:22"},
      {"role": "assistant", "content": "Oiled.", "timestamp": "2026-04-03T15:36:23"})

# Kimi CLI and Kimi Code.
lines(".kimi/sessions/p1/kimi-1/wire.jsonl",
      {"type": "metadata", "protocol_version": "1.3"},
      {"timestamp": MS / 1000, "message": {"type": "TurnBegin", "payload": {
          "user_input": [{"type": "text", "text": "Raise the jetty."}]}}},
      {"timestamp": MS / 1000, "message": {"type": "ContentPart", "payload": {"type": "think", "think": "It is low."}}},
      {"timestamp": MS / 1000, "message": {"type": "ContentPart", "payload": {"type": "text", "text": "I look."}}},
      {"timestamp": MS / 1000, "message": {"type": "ToolCall", "payload": {"type": "function", "id": "t1", "function": {
          "name": "Shell", "arguments": json.dumps({"command": "make"})}}}},
      {"timestamp": MS / 1000, "message": {"type": "ToolResult", "payload": {
          "tool_call_id": "t1", "return_value": {"is_error": True, "output": "no stones"}}}},
      {"timestamp": MS / 1000, "message": {"type": "TurnEnd", "payload": {}}})
lines(".kimi-code/sessions/wd_harbor_0/kimi-2/agents/main/wire.jsonl",
      {"type": "metadata", "time": MS}, {"type": "config.update", "modelAlias": "kimi-k3", "time": MS},
      {"type": "turn.prompt", "input": [{"type": "text", "text": "Oil it."}], "time": MS},
      {"type": "context.append_loop_event", "time": MS + 1, "event": {
          "type": "content.part", "part": {"type": "text", "text": "I oil it."}}},
      {"type": "context.append_loop_event", "time": MS + 2, "event": {
          "type": "tool.call", "toolCallId": "t1", "name": "Bash", "args": {"command": "oil"}}},
      {"type": "context.append_loop_event", "time": MS + 3, "event": {
          "type": "tool.result", "toolCallId": "t1", "result": {"output": "oiled"}}})

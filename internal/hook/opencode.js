// Written by "oxbow setup opencode", and taken back by "oxbow setup --remove".
//
// It tells oxbow what happens in a session, and puts the memory before the
// model. OXBOW_HOOKS=off in the environment of opencode stops it for a session.

import { spawn } from "node:child_process"

const command = ["oxbow", "hook", "opencode"]
const deadline = 2000 // milliseconds

// answered are the events whose answer is put before the model. An answer that comes too late must not
// count as shown, so the program is stopped. It keeps other reports even if that takes longer.
const answered = ["SessionStart", "UserPromptSubmit"]

// ask gives a report to oxbow and returns what it answers, "" without an answer.
function ask(report) {
  return new Promise((done) => {
    let out = ""
    let timer
    const end = (text) => {
      clearTimeout(timer)
      done(text)
    }
    try {
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      timer = setTimeout(() => {
        if (answered.includes(report.hook_event_name)) child.kill()
        else child.unref()
        end("")
      }, deadline)
      child.on("error", () => end(""))
      child.on("close", () => end(out))
      child.stdout.on("data", (data) => (out += data))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(report))
    } catch {
      end("")
    }
  })
}

export const Oxbow = async ({ directory }) => {
  if (process.env.OXBOW_HOOKS === "off") return {}

  // The plug-in may be set up for the user and for the project: one file reports, the
  // first that is loaded for a directory.
  const owners = (globalThis[Symbol.for("oxbow.plugin")] ??= new Map())
  if ((owners.get(directory) ?? import.meta.url) !== import.meta.url) return {}
  owners.set(directory, import.meta.url)

  const sessions = new Map() // by identifier: root, agent, turn, fresh, context
  let queue = Promise.resolve("")

  const session = (id) => {
    if (!sessions.has(id)) sessions.set(id, { id, root: id, agent: "", turn: "", fresh: false, context: null })
    return sessions.get(id)
  }

  // send queues a report: they are made one at a time, in their order.
  const send = (event, id, more) => {
    const s = session(id)
    const root = session(s.root)
    const report = { hook_event_name: event, session_id: s.root, turn_id: root.turn, cwd: directory, timestamp: new Date().toISOString(), agent_type: s.agent, ...more }
    queue = queue.then(() => ask(report))
    return queue
  }

  // contextOf returns the context that an answer gives, "" for none.
  const contextOf = (answer) => {
    try {
      return JSON.parse(answer).context || ""
    } catch {
      return ""
    }
  }

  const start = (id, source) => {
    session(id).context = send("SessionStart", id, { source }).then(contextOf)
  }

  const created = ({ info }) => {
    const s = session(info.id)
    s.fresh = true
    if (info.parentID) {
      s.root = session(info.parentID).root
      s.agent = info.agent || "subagent"
    }
  }

  const part = ({ part }) => {
    const state = part.state
    if (part.type !== "tool" || (state.status !== "completed" && state.status !== "error")) return
    const failed = state.status === "error"
    const exit = state.metadata?.exit
    send(failed ? "PostToolUseFailure" : "PostToolUse", part.sessionID, {
      tool_name: part.tool,
      tool_use_id: part.callID,
      tool_input: state.input,
      exit_status: typeof exit === "number" ? exit : undefined,
      error: failed ? String(state.error).slice(-20000) : undefined,
      tool_response: failed ? undefined : String(state.output ?? "").slice(-1000000),
    })
  }

  const events = {
    "session.created": created,
    "message.part.updated": part,
    "session.compacted": ({ sessionID }) => {
      send("PostCompact", sessionID, {})
      start(sessionID, "compact")
    },
    "session.idle": ({ sessionID }) => {
      if (session(sessionID).root === sessionID) return send("Stop", sessionID, {})
    },
  }

  // safe keeps what goes wrong here away from opencode.
  const safe = (f) => async (input, output) => {
    try {
      await f(input, output)
    } catch {}
  }

  return {
    event: safe(({ event }) => events[event.type]?.(event.properties)),

    "chat.message": safe(async (input, { message, parts }) => {
      const s = session(input.sessionID)
      if (s.root !== s.id) return
      s.turn = message.id
      if (!s.context) start(s.id, s.fresh ? "startup" : "resume")
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic && !p.ignored).map((p) => p.text).join("\n")
      const report = { prompt, model: message.model?.modelID }
      // The time in opencode's database, so that a later import of the session finds the same turn.
      if (message.time?.created) report.timestamp = new Date(message.time.created).toISOString()
      const text = contextOf(await send("UserPromptSubmit", s.id, report))
      const last = parts.at(-1)
      // A part of this message: what went before stays as it is, and cached.
      if (text && last) parts.push({ id: last.id + "0", sessionID: last.sessionID, messageID: last.messageID, type: "text", text, synthetic: true })
    }),

    "experimental.text.complete": safe(({ sessionID, partID }, { text }) => send("AgentText", sessionID, { text, text_id: partID })),

    "experimental.chat.system.transform": safe(async ({ sessionID }, { system }) => {
      const s = sessionID && sessions.get(sessionID)
      if (!s?.context || s.root !== s.id || /^You are a title generator/.test(system[0])) return
      const context = await s.context
      if (context) system.push(context)
    }),

    dispose: safe(async () => {
      for (const s of sessions.values()) if (s.context) send("SessionEnd", s.id, { reason: "exit" })
      await queue
    }),
  }
}

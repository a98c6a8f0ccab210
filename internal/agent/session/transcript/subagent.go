// This file finds what a sub-agent of Gemini CLI said. Its answer is the result of a tool.

package transcript

import (
	"encoding/json"
	"strings"
)

// SubagentSaid returns the name of a sub-agent of Gemini CLI that a call of a tool started, and what
// it said at its end; both are "" for any other call. The tool is invoke_agent, or has the name of
// the sub-agent.
func SubagentSaid(tool string, args []byte, output string) (agent, text string) {
	head, text, ok := strings.Cut(output, "\nResult:\n")
	named, ok2 := strings.CutPrefix(head, "Subagent '")
	agent, _, ok3 := strings.Cut(named, "' finished.\nTermination Reason: ")
	if !ok || !ok2 || !ok3 {
		return "", ""
	}
	var in struct {
		Agent string `json:"agent_name"`
	}
	_ = json.Unmarshal(args, &in) // without a name it is no such call
	if tool != agent && (tool != "invoke_agent" || in.Agent != agent) {
		return "", "" // another tool may answer with a foreign text that looks so
	}
	return agent, reportText(strings.TrimSpace(text))
}

// reportText returns the only text of a report that is an object with one member, as sub-agents
// of Gemini CLI give it, such as {"response":"It is in b.go."}. Any other report is returned whole.
func reportText(report string) string {
	var members map[string]json.RawMessage
	if !strings.HasPrefix(report, "{") || json.Unmarshal([]byte(report), &members) != nil || len(members) != 1 {
		return report
	}
	for _, raw := range members {
		var said string
		if json.Unmarshal(raw, &said) == nil && said != "" {
			return strings.TrimSpace(said)
		}
	}
	return report
}

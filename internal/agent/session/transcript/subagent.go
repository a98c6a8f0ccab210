// This file finds the report of a Gemini CLI sub-agent in a tool call's result.

package transcript

import (
	"encoding/json"
	"strings"
)

// ExtractSubagentReply returns the name and the final text of the Gemini CLI sub-agent that a tool call started.
// Both are "" if the call started no sub-agent. The tool is either invoke_agent, or has the name of the sub-agent.
func ExtractSubagentReply(tool string, args []byte, output string) (agent, text string) {
	head, text, hasResult := strings.Cut(output, "\nResult:\n")
	named, hasName := strings.CutPrefix(head, "Subagent '")
	agent, _, hasReason := strings.Cut(named, "' finished.\nTermination Reason: ")
	isReport := hasResult && hasName && hasReason
	if !isReport {
		return "", ""
	}
	var in struct {
		Agent string `json:"agent_name"`
	}
	_ = json.Unmarshal(args, &in) // Ignore the error: a call without a name did not start a sub-agent.
	isInvoked := tool == "invoke_agent" && in.Agent == agent
	if tool == agent || isInvoked {
		return agent, unwrapReportText(strings.TrimSpace(text))
	}
	return "", "" // The call did not start a sub-agent, so the text is another tool's result.
}

// unwrapReportText returns the text in a sub-agent's report. If the report is an object with one member, such as
// {"response":"It is in b.go."}, the result is the member's value. Any other report is returned unchanged.
func unwrapReportText(report string) string {
	var members map[string]json.RawMessage
	if !strings.HasPrefix(report, "{") || json.Unmarshal([]byte(report), &members) != nil {
		return report
	}
	if len(members) != 1 {
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

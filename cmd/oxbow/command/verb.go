// This file turns a verb of the table into the flags of a command, and the
// flags back into the verb's arguments.

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

// verb is a verb of the table as a command.
type verb struct {
	tool  tool.Tool
	flags []*paramFlag
}

// paramFlag is one parameter as a flag.
type paramFlag struct {
	param  tool.Param
	values []string
	set    bool
}

// newVerb gives the command a flag for each parameter of the verb but those
// in without, which stand as arguments alone. rename gives a parameter another
// flag.
func newVerb(c *cobra.Command, name string, without []string, rename map[string]string) *verb {
	t, ok := tool.Find(name)
	if !ok {
		panic("oxbow: the table has no verb " + name)
	}
	v := &verb{tool: t}
	for _, p := range t.Params {
		if slices.Contains(without, p.Name) {
			continue
		}
		flag := p.Flag
		if r, ok := rename[p.Name]; ok {
			flag = r
		}
		f := &paramFlag{param: p}
		usage := strings.TrimSuffix(p.Usage, ".")
		if len(p.Enum) > 0 {
			usage += " (" + strings.Join(p.Enum, ", ") + ")"
		}
		c.Flags().Var(f, flag, usage)
		if p.Type == "boolean" {
			c.Flags().Lookup(flag).NoOptDefVal = "true"
		}
		if len(p.Enum) > 0 {
			_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(p.Enum, cobra.ShellCompDirectiveNoFileComp))
		}
		v.flags = append(v.flags, f)
	}
	return v
}

// String returns what the help shows as the default: nothing.
func (f *paramFlag) String() string { return strings.Join(f.values, " ") }

// Type returns the word that the help shows for the value.
func (f *paramFlag) Type() string {
	switch f.param.Type {
	case "boolean":
		return "bool"
	case "integer", "number":
		return "N"
	}
	switch f.param.Name {
	case "after", "before", "as_of":
		return "DATE"
	case "recency":
		return "SPAN"
	}
	return strings.ToUpper(strings.TrimSuffix(f.param.Flag, "s"))
}

// Set takes one value from the command line.
func (f *paramFlag) Set(s string) error {
	if f.set && !f.param.Repeatable {
		return fmt.Errorf("given twice")
	}
	f.set = true
	f.values = append(f.values, strings.TrimPrefix(s, mark))
	return nil
}

// json returns the value as the verb takes it.
func (f *paramFlag) json() (any, error) {
	for _, s := range f.values {
		if err := checkText("--"+f.param.Flag, s); err != nil {
			return nil, err
		}
	}
	var list []any
	for _, s := range f.values {
		switch f.param.Type {
		case "integer":
			if _, err := strconv.ParseInt(s, 10, 64); err != nil {
				return nil, misusef("", "--%s %q is not a whole number", f.param.Flag, s)
			}
			list = append(list, json.Number(s))
		case "number":
			// What is no number, the verb refuses in its own words.
			list = append(list, s)
		case "boolean":
			b, err := strconv.ParseBool(s)
			if err != nil {
				return nil, misusef("", "--%s %q is neither true nor false", f.param.Flag, s)
			}
			list = append(list, b)
		default:
			list = append(list, s)
		}
	}
	if f.param.Repeatable {
		return list, nil
	}
	return list[0], nil
}

// checkText refuses bytes that JSON cannot carry: encoding would replace them
// without a word.
func checkText(what, s string) error {
	if !utf8.ValidString(s) {
		return &oxbow.InvalidError{Field: what, Reason: "is not UTF-8 text; convert it first, for example with iconv -t UTF-8"}
	}
	return nil
}

// flag returns the flag of that parameter.
func (v *verb) flag(param string) *paramFlag {
	for _, f := range v.flags {
		if f.param.Name == param {
			return f
		}
	}
	panic("oxbow: " + v.tool.Name + " has no parameter " + param)
}

// given reports whether the flag of that parameter stood on the command line.
func (v *verb) given(param string) bool { return v.flag(param).set }

// arguments returns the flags that were given, as the verb takes them.
func (v *verb) arguments() (map[string]any, error) {
	m := map[string]any{}
	for _, f := range v.flags {
		if !f.set {
			continue
		}
		value, err := f.json()
		if err != nil {
			return nil, badArgument(err)
		}
		m[f.param.Name] = value
	}
	return m, nil
}

// run calls the verb with the flags and these arguments, which win.
func (v *verb) run(ctx context.Context, a *app, more map[string]any) (tool.Answer, error) {
	m, err := v.arguments()
	if err != nil {
		return nil, err
	}
	for key, value := range more {
		if s, ok := value.(string); ok {
			if err := checkText(key, s); err != nil {
				return nil, badArgument(err)
			}
		}
		m[key] = value
	}
	return a.callVerb(ctx, v.tool, m)
}

// callVerb calls a verb with arguments that are known to be UTF-8.
func (a *app) callVerb(ctx context.Context, t tool.Tool, args map[string]any) (tool.Answer, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	answer, err := a.call(ctx, t, b)
	return answer, badArgument(err)
}

// callOn calls a verb on a desk, with arguments that are known to be UTF-8.
func (a *app) callOn(ctx context.Context, t tool.Tool, d *tool.Workspace, args map[string]any) (tool.Answer, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	answer, err := t.Call(ctx, d, b)
	return answer, badArgument(err)
}

// badArgument makes misuse of an error about a value that stood on the command
// line.
func badArgument(err error) error {
	if errors.Is(err, oxbow.ErrInvalid) {
		return &misuse{err: err}
	}
	return err
}

// answer shows what a verb gave: as JSON, or as show does.
func answer[Out any](a *app, got tool.Answer, show func(*Out)) error {
	if a.json {
		return a.printJSON(got)
	}
	switch out := any(got).(type) {
	case *Out:
		show(out)
	case Out:
		show(&out)
	default:
		panic(fmt.Sprintf("oxbow: a verb gave %T", got))
	}
	return nil
}

// This file defines the flags of a command: a flag for each field in a verb's In struct.

package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// flagSet contains the parameters of a verb, and a flag for each parameter that has one.
type flagSet struct {
	params []verb.Param
	flags  []*paramFlag
}

// paramFlag is the flag of one parameter.
type paramFlag struct {
	param  verb.Param
	values []string
	isSet  bool
}

// newFlags adds the flags for the fields of In to a command.
func newFlags[In any](c *cobra.Command) *flagSet { return addFlags(c, verb.StructParams[In]()) }

// addFlags adds the flags of parameters to a command.
func addFlags(c *cobra.Command, params []verb.Param) *flagSet {
	s := &flagSet{params: params}
	for _, p := range s.params {
		if p.Flag == "" {
			continue
		}
		f := &paramFlag{param: p}
		usage := flagHelpText(p.Usage)
		if len(p.Enum) > 0 {
			usage += " (" + strings.Join(p.Enum, ", ") + ")"
		}
		c.Flags().VarP(f, p.Flag, p.Short, usage)
		flag := c.Flags().Lookup(p.Flag)
		flag.DefValue = p.Default
		if p.Default != "" && p.Type == "string" {
			flag.DefValue = strconv.Quote(p.Default)
		}
		if p.Type == "boolean" {
			flag.NoOptDefVal = "true"
		}
		s.flags = append(s.flags, f)
	}
	return s
}

// flagHelpText returns the text of a flag in the help. The same text describes a parameter to models and programs as a
// sentence, so it may begin with a capital letter and end with a period. All flags begin with a small letter.
func flagHelpText(sentence string) string {
	usage := strings.TrimSuffix(sentence, ".")
	first, size := utf8.DecodeRuneInString(usage)
	second, _ := utf8.DecodeRuneInString(usage[size:])
	if unicode.IsUpper(second) {
		return usage // an abbreviation, such as ID
	}
	return string(unicode.ToLower(first)) + usage[size:]
}

// normalizeFlagName returns the current name of a flag. The flag --max-tokens also has the old names
// --budget and --token-budget.
func normalizeFlagName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "budget" || name == "token-budget" {
		name = "max-tokens"
	}
	return pflag.NormalizedName(name)
}

// String returns the given values, separated by spaces.
func (f *paramFlag) String() string { return strings.Join(f.values, " ") }

// GetSlice returns the values that were given on the command line.
func (f *paramFlag) GetSlice() []string { return f.values }

// Type returns the word that the help shows for the value.
func (f *paramFlag) Type() string {
	switch {
	case f.param.Type == "boolean":
		return "bool"
	case f.param.Value != "":
		return f.param.Value
	case f.param.Type == "integer", f.param.Type == "number":
		return "N"
	}
	return strings.ToUpper(strings.TrimSuffix(f.param.Flag, "s"))
}

// Set adds one value from the command line. It returns an error if a flag that is not repeatable
// was set before.
func (f *paramFlag) Set(s string) error {
	if f.isSet && !f.param.Repeatable {
		return fmt.Errorf("given twice")
	}
	f.isSet = true
	f.values = append(f.values, strings.TrimPrefix(s, argumentMark))
	return nil
}

// flag returns the flag of the parameter. It panics if there is none.
func (s *flagSet) flag(param string) *paramFlag {
	i := slices.IndexFunc(s.flags, func(f *paramFlag) bool { return f.param.Name == param })
	if i < 0 {
		panic("oxbow: there is no flag for " + param)
	}
	return s.flags[i]
}

// wasGiven reports whether the flag of the parameter was given on the command line.
func (s *flagSet) wasGiven(param string) bool { return s.flag(param).isSet }

// fillInput stores the values of the flags, or their defaults, in the struct that in points to.
func (s *flagSet) fillInput(in any) error {
	for _, f := range s.flags {
		values := f.values
		if !f.isSet && f.param.Default != "" {
			values = []string{f.param.Default}
		}
		for _, v := range values {
			if err := f.setInputField(in, v); err != nil {
				return asUsageError(err)
			}
		}
	}
	return nil
}

func (f *paramFlag) setInputField(in any, v string) error {
	if err := verb.CheckText("--"+f.param.Flag, v); err != nil {
		return err
	}
	switch f.param.Type {
	case "integer":
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return usageErrorf("", "--%s %q is not a whole number", f.param.Flag, v)
		}
		if n < 0 && f.param.Name == "max_tokens" {
			return usageErrorf("leave it out for the standard one", "--max-tokens %d is less than 1 token", n)
		}
	case "boolean":
		b, err := strconv.ParseBool(v)
		if err != nil {
			return usageErrorf("", "--%s %q is neither true nor false", f.param.Flag, v)
		}
		v = strconv.FormatBool(b)
	}
	return f.param.SetField(in, v)
}

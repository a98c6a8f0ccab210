// This file defines the flags of commands. A verb is a function that a command calls. Its arguments are the fields of a
// struct, such as RememberIn. Each field that can be a flag becomes a flag of the command.

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

// flagSet contains a verb's parameters, and the flag of each parameter that has one.
type flagSet struct {
	params []verb.Param
	flags  []*paramFlag
}

// paramFlag is the flag for one parameter. It implements pflag.Value.
type paramFlag struct {
	param    verb.Param
	values   []string
	wasGiven bool
}

// newFlags adds a flag to the command c for each field of In.
func newFlags[In any](c *cobra.Command) *flagSet { return addFlags(c, verb.StructParams[In]()) }

// addFlags adds a flag to the command c for each parameter.
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

// flagHelpText converts the description of a parameter to the text for its flag in the help. The description is a
// sentence for models and programs. In the help, the text begins with a small letter and ends without a period.
func flagHelpText(sentence string) string {
	usage := strings.TrimSuffix(sentence, ".")
	first, size := utf8.DecodeRuneInString(usage)
	second, _ := utf8.DecodeRuneInString(usage[size:])
	if unicode.IsUpper(second) {
		return usage // Keep the capital letter, because the first word is an abbreviation, such as ID.
	}
	return string(unicode.ToLower(first)) + usage[size:]
}

// normalizeFlagName returns the current name of a flag. It converts --budget and --token-budget, the old names of
// --max-tokens.
func normalizeFlagName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "budget" || name == "token-budget" {
		name = "max-tokens"
	}
	return pflag.NormalizedName(name)
}

// String returns the values that were given, separated by spaces.
func (f *paramFlag) String() string { return strings.Join(f.values, " ") }

// GetSlice returns the values that were given on the command line.
func (f *paramFlag) GetSlice() []string { return f.values }

// Type returns the word that the help shows for the flag's value.
func (f *paramFlag) Type() string {
	switch {
	case f.param.Type == "boolean":
		return "bool"
	case f.param.ValuePlaceholder != "":
		return f.param.ValuePlaceholder
	case f.param.Type == "integer", f.param.Type == "number":
		return "N"
	}
	return strings.ToUpper(strings.TrimSuffix(f.param.Flag, "s"))
}

// Set adds one value from the command line. It returns an error if the flag is not repeatable and was already set.
func (f *paramFlag) Set(s string) error {
	if f.wasGiven && !f.param.Repeatable {
		return fmt.Errorf("given twice")
	}
	f.wasGiven = true
	f.values = append(f.values, strings.TrimPrefix(s, nonFlagArgPrefix))
	return nil
}

// flag returns the flag of a parameter. It panics if the parameter lacks a flag.
func (s *flagSet) flag(param string) *paramFlag {
	i := slices.IndexFunc(s.flags, func(f *paramFlag) bool { return f.param.Name == param })
	if i < 0 {
		panic("oxbow: there is no flag for " + param)
	}
	return s.flags[i]
}

// wasGiven reports whether the command line contained the parameter's flag.
func (s *flagSet) wasGiven(param string) bool { return s.flag(param).wasGiven }

// fillInput stores the values of the flags in a struct. The argument in is a pointer to this struct. If a flag was not
// given, its default value is stored. fillInput returns an error if a value is not valid.
func (s *flagSet) fillInput(in any) error {
	for _, f := range s.flags {
		values := f.values
		if !f.wasGiven && f.param.Default != "" {
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

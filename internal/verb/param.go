// This file describes the verbs' parameters, which are derived from the fields of their In
// structs.

package verb

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// Param is a parameter of a verb, in a form for interfaces without JSON.
type Param struct {
	Name       string   // name in the JSON object, such as "max_tokens"
	Flag       string   // flag without dashes, such as "max-tokens" ("" if it is only a positional argument)
	Short      string   // flag of a single letter, or ""
	Usage      string   // a sentence
	Value      string   // placeholder for its value in the help, or ""
	Default    string   // default value on a command line, or ""
	Type       string   // "string", "integer", "number" or "boolean" (for a Repeatable parameter, the type of an item)
	Repeatable bool     // the parameter is a list
	Required   bool     // the call fails without it
	Empty      bool     // "" is a value, such as a name in a file of another program
	Enum       []string // the allowed values (nil if all are allowed)
	Also       []string // other accepted names in the JSON object
	Unlisted   bool     // accepted, but not in the schema because it is rare or expressible by a filter

	fieldIndex []int // index of the field
}

// StructParams returns the parameters of a verb whose argument is In. The tags of a field are
//
//	json        name; without omitempty the argument is required
//	jsonschema  short description for models, without repeating the name
//	also        other accepted names, which models guess
//	enum        the allowed values, separated by commas; "kind" for the kinds of an entry;
//	            "part" for the parts that remember can clear
//	empty       "allowed" if an empty string is a value, instead of an absent argument
//	schema      "-" if the parameter is accepted but not in the schema
//	flag        name of the flag, if it is not the name with dashes; "-" if there is no flag
//	short       flag of a single letter
//	value       placeholder for the value in the help
//	default     default value on a command line
//	usage       sentence for the help of a command line and for errors; the default is jsonschema
//
// It panics if a field has a type that is not supported, because that is a programming error.
func StructParams[In any]() []Param { return structParams(reflect.TypeFor[In]()) }

func structParams(t reflect.Type) []Param {
	var ps []Param
	tag := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		readTag(tag, string(f.Tag))
		name, opts, _ := strings.Cut(tag["json"], ",")
		if name == "-" || f.Anonymous {
			continue // the fields of an embedded struct are parameters
		}
		p := Param{Name: name, Flag: cmp.Or(tag["flag"], strings.ReplaceAll(name, "_", "-")), Short: tag["short"],
			Usage: cmp.Or(tag["usage"], tag["jsonschema"]),
			Value: tag["value"], Default: tag["default"], Required: !strings.Contains(opts, "omitempty"),
			Empty: tag["empty"] != "", Enum: enumValues(tag["enum"]), Unlisted: tag["schema"] == "-",
			fieldIndex: f.Index}
		if p.Flag == "-" {
			p.Flag = ""
		}
		if a := tag["also"]; a != "" {
			p.Also = strings.Split(a, ",")
		}
		p.Type, p.Repeatable = paramType(f.Type)
		if p.Type == "" {
			panic(fmt.Sprintf("tool: parameter %s of %v has a type that no door can show", name, t))
		}
		ps = append(ps, p)
	}
	return ps
}

// readTag stores the keys and values of a field's tag in values. It reads the tag only once for
// speed, because every start of the command line reads all verbs' tags and [reflect.StructTag.Get]
// would scan a tag for every key.
func readTag(values map[string]string, tag string) {
	clear(values)
	for {
		key, rest, _ := strings.Cut(strings.TrimLeft(tag, " "), ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return // end of the tag (go vet refuses malformed tags)
		}
		values[key], _ = strconv.Unquote(quoted)
		tag = rest[len(quoted):]
	}
}

func enumValues(tag string) []string {
	switch tag {
	case "":
		return nil
	case "kind":
		var kinds []string
		for _, k := range oxbow.Kinds() {
			kinds = append(kinds, k.String())
		}
		return kinds
	case "part":
		return clearableParts()
	}
	return strings.Split(tag, ",")
}

// paramType returns the parameter type for a field of type t.
func paramType(t reflect.Type) (name string, repeatable bool) {
	switch t.Kind() {
	case reflect.Slice:
		repeatable, t = true, t.Elem()
	case reflect.Pointer:
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		name = "string"
	case reflect.Bool:
		name = "boolean"
	case reflect.Int, reflect.Uint64:
		name = "integer"
	case reflect.Float64:
		name = "number"
	}
	return name, repeatable
}

// CheckValue returns an error if the struct that in points to has text that JSON cannot represent, or if
// the parameter is required and empty. The error names the parameter.
func (p Param) CheckValue(in any, textName string) error {
	f := reflect.ValueOf(in).Elem().FieldByIndex(p.fieldIndex)
	switch {
	case p.Type != "string":
		return nil
	case p.Repeatable:
		for i := range f.Len() {
			if err := CheckText(textName, f.Index(i).String()); err != nil {
				return err
			}
		}
		return nil
	case f.Kind() == reflect.Pointer:
		return nil
	case p.Required && !p.Empty && f.String() == "":
		return InvalidValue(p.Name, "", "is empty; "+lowerFirst(p.Usage))
	}
	return CheckText(textName, f.String())
}

// CheckText returns an error if s is not UTF-8, because JSON would silently replace the invalid bytes. The error uses
// textName as the name of the text.
func CheckText(textName, s string) error {
	if !utf8.ValidString(s) {
		return &oxbow.InvalidError{
			Field:  textName,
			Reason: "is not UTF-8 text; convert it first, for example with iconv -t UTF-8",
		}
	}
	return nil
}

// Tests of the operations for the difference between two versions.

package threeway

import (
	"reflect"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestReplaceOps(t *testing.T) {
	created := time.Unix(1767225600, 0).UTC()
	from := oxbow.Entry{Name: "a", Content: "one", Version: 7, Created: created}
	to := oxbow.Entry{Name: "a", Content: "two", Aliases: []string{"b"},
		Labels: []oxbow.Label{{Key: "tag", Value: "x"}}, Created: created.Add(time.Hour)}
	renamed, moved := to.Clone(), to.Clone()
	renamed.Name, moved.Kind = "c", oxbow.Journal
	remove := oxbow.Remove{Name: "a", If: 7}
	for _, c := range []struct {
		to   oxbow.Entry
		want []oxbow.Op
	}{
		{to, []oxbow.Op{oxbow.Update{Name: "a", Content: "two", Aliases: to.Aliases, Labels: to.Labels, If: 7}}},
		{renamed, []oxbow.Op{remove, oxbow.Add{Name: "c", Content: "two", Aliases: to.Aliases, Labels: to.Labels,
			Created: to.Created}}},
		{moved, []oxbow.Op{remove, oxbow.Add{Name: "a", Kind: oxbow.Journal, Content: "two", Aliases: to.Aliases,
			Labels: to.Labels, Created: to.Created}}},
	} {
		ops := NewReplaceVersionOps(&from, &c.to)
		if !reflect.DeepEqual(ops, c.want) {
			t.Errorf("ReplaceOps() to %+v = %+v, want %+v", c.to, ops, c.want)
		}
		result := from
		for _, op := range ops {
			if _, isRemoval := op.(oxbow.Remove); isRemoval {
				result = oxbow.Entry{}
				continue
			}
			result = op.ApplyTo(result)
		}
		if result.Name != c.to.Name || result.Content != c.to.Content || result.Kind != c.to.Kind {
			t.Errorf("the ops %+v make %+v, want %+v", ops, result, c.to)
		}
	}
}

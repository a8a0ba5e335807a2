// SPDX-License-Identifier: Apache-2.0

package rules

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/txtrace/txtrace/internal/analysis"
)

// shownJSON is written by TestShown: the first fail that the tests make of each
// rule, and the reasons for which they leave instances undecided. The test holds
// the file to what the rules do today.
//
//go:embed shown.json
var shownJSON []byte

var shown = sync.OnceValue(func() (all map[string]analysis.Shown) {
	if err := json.Unmarshal(shownJSON, &all); err != nil {
		panic("shown.json: " + err.Error())
	}
	return all
})

// Shown is what the rule id was seen to say.
func Shown(id string) analysis.Shown { return shown()[id] }

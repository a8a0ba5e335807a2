// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
)

// drivers of all devices that have a bus, in every namespace, each once. nil
// when some could not be looked at.
func drivers() []string {
	all, err := namespaces()
	if err != nil {
		return nil
	}
	defer closeAll(all)
	found := []string{}
	for _, ns := range all {
		err := ns.do(func() error {
			links, err := netlink.LinkList()
			if err != nil {
				return err
			}
			et, err := ethtool.NewEthtool()
			if err != nil {
				return err
			}
			defer et.Close()
			for _, l := range links {
				info, err := et.DriverInfo(l.Attrs().Name)
				if err == nil && info.BusInfo != "" { // err: it has none, or went away
					found = append(found, info.Driver)
				}
			}
			return nil
		})
		if err != nil {
			return nil
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

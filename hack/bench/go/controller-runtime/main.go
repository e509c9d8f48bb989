// SPDX-License-Identifier: Apache-2.0

// The reference operator of the runtime's bench: the same work as the other sides, on controller-runtime.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

type options struct {
	config *rest.Config
	count  int
	rounds int
	leads  bool
}

func main() {
	kubeconfig := flag.String("config", "", "kubeconfig of the API server")
	work := flag.String("work", "", "sync, events, noop or serve")
	count := flag.Int("count", 0, "objects that there are")
	rounds := flag.Int("rounds", 1, "how often each is reconciled")
	flag.Int("round", 0, "unused: changes are counted")
	flag.Int("priority", 0, "unused: there is a lease")
	leads := flag.Bool("leader-elect", false, "serve only while leading")
	flag.Parse()
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), *work, options{config, *count, *rounds, *leads})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, work string, given options) error {
	switch work {
	case "sync":
		return follow(ctx, given, nil)
	case "events":
		return follow(ctx, given, indexes)
	case "noop":
		return noop(ctx, given)
	case "serve":
		return serve(ctx, given)
	}
	return errors.New("unknown --work; there are sync, events, noop and serve")
}

/* NewReno (RFC 9002, section 7) as a law for Millpond. Build it as a shared library:
 *
 *   cc -O2 -ffp-contract=off -shared -fPIC -I include examples/c-law/reno.c -o reno.so
 */
#include <math.h>
#include "millpond.h"

/* All sizes in bytes. Zeros at first. */
typedef struct {
    double packet, window, threshold;
    uint64_t delivered, prior_delivered, recovery;
} reno;

static int in_recovery(const reno *r) { return r->prior_delivered < r->recovery; }

static int32_t on_start(void *state, const millpond_context *cx, const millpond_start *start, millpond_permit *permit) {
    reno *r = state;
    (void)cx;
    r->packet = (double)start->packet_bytes;
    r->window = fmin(10.0 * r->packet, fmax(2.0 * r->packet, 14720.0));
    r->threshold = INFINITY;
    permit->window_bytes = r->window;
    return 0;
}

static int32_t on_ack(void *state, const millpond_context *cx, const millpond_ack *ack, millpond_permit *permit) {
    reno *r = state;
    double acked = (double)ack->bytes;
    (void)cx;
    if (ack->delivered_bytes > r->delivered) r->delivered = ack->delivered_bytes;
    r->prior_delivered = ack->prior_delivered_bytes;
    if (ack->window_unused || in_recovery(r)) return 0;
    if (r->window < r->threshold) { /* slow start (section 7.3.1); whole bytes, rounded to the nearest */
        double room = floor(fmax(fmin(r->threshold, 1e15) - r->window, 0.0) + 0.5);
        double used = fmin(acked, room);
        r->window += used;
        acked -= used;
    }
    if (acked > 0.0) r->window += r->packet * acked / r->window; /* congestion avoidance (section 7.3.3) */
    r->window = fmin(r->window, 1e15);
    permit->window_bytes = r->window;
    return 0;
}

/* cx->parameters[0]: the factor by which a loss episode multiplies the window. */
static int32_t on_congestion(void *state, const millpond_context *cx, const millpond_congestion *event,
                             millpond_permit *permit) {
    reno *r = state;
    if (event->cause == MILLPOND_TIMEOUT) return 0;
    if (event->is_new_episode && !in_recovery(r)) {
        r->threshold = r->window = fmax(r->window * cx->parameters[0], 2.0 * r->packet);
        r->recovery = r->delivered;
    }
    if (event->cause == MILLPOND_NO_FEEDBACK) {
        r->window = 2.0 * r->packet;
        r->recovery = 0;
    }
    permit->window_bytes = r->window;
    return 0;
}

static const millpond_sender sender = {
    .version = MILLPOND_VERSION, .struct_bytes = sizeof(millpond_sender), .state_bytes = sizeof(reno),
    .on_start = on_start, .on_ack = on_ack, .on_congestion = on_congestion,
};

const millpond_law millpond_law_table = {
    .version = MILLPOND_VERSION, .struct_bytes = sizeof(millpond_law), .sender = &sender,
};

-- Begins to build the queue anew, after `remove`. ARGV[3] builder, ARGV[4] incarnation, ARGV[5] id of the first proof
-- unit, ARGV[6] number of proof units. {'ok'}
redis.call('DEL', key('meta'))
redis.call('HSET', key('meta'), 'builder', ARGV[3], 'incarnation', whole(ARGV[4], 'the incarnation'), 'first_proof',
           whole(ARGV[5], 'the first proof unit'), 'proofs', whole(ARGV[6], 'the number of proof units'),
           'proofs_done', 0, 'next', 0, 'lists_running', 1)
redis.call('EXPIRE', key('meta'), DAY)
return {'ok'}

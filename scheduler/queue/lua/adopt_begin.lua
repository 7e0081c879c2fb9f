-- Begins to bring a queue that survived a restart of its server up to date. Tokens of the new incarnation cannot meet one
-- that was handed out after the snapshot. ARGV[3] builder, ARGV[4] incarnation. {'ok'} | {'absent'}
local meta = redis.call('HMGET', key('meta'), 'units', 'builder')
if not meta[1] then return {'absent'} end
redis.call('HDEL', key('meta'), 'server')
redis.call('HSET', key('meta'), 'builder', ARGV[3], 'incarnation', whole(ARGV[4], 'the incarnation'))
return {'ok'}

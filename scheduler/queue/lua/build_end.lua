-- Ends what `build_begin` or `adopt_begin` began: from now on the queue is used. ARGV[3] builder, ARGV[4] number of
-- units. {'ok'} | {'lost'}
if not is_being_built(ARGV[3]) then return {'lost'} end
redis.call('HSET', key('meta'), 'units', whole(ARGV[4], 'the number of units'), 'server', ARGV[1])
redis.call('HDEL', key('meta'), 'builder')
event('build', '', '', '', 'incarnation', meta_number('incarnation'))
keep_for_a_day()
-- A worker that asks after the replay was finished and removed builds this: it shall not stay for ever.
if redis.call('HGET', key('meta'), 'next') == '0' then
  for _, name in ipairs({'meta', 'done', 'events'}) do redis.call('EXPIRE', key(name), 3600) end
end
return {'ok'}
